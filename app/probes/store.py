"""All SQL about probes: submitting, listing, and who holds one until when. Whoever changes a probe locks its row first."""

from typing import Any

from procrastinate.jobs import Status
from sqlalchemy import Double, Integer, Row, case, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.probe import ProbeEnd, ProbeSpec
from app.domain.status import MAX_ATTEMPTS, RunState
from app.queue import jobs, leases
from app.queue.labels import probe_queue
from app.runs.keys import Kept
from app.storage.probe_tables import probes
from app.storage.tables import idempotency_keys, runners
from app.storage.view import View

Found = Row[Any]
KEYS_KEPT = "7 days"
_RUNNER = select(runners.c.name).where(runners.c.id == probes.c.runner_id).scalar_subquery().label("runner")


# --- submitting and looking -------------------------------------------------------------------------------------------------------------


async def queued_by(connection: AsyncConnection, project: str, name: str) -> int:
    mine = (probes.c.project == project, probes.c.submitted_by == name, probes.c.state == RunState.QUEUED)
    return int(await connection.scalar(select(func.count()).where(*mine)) or 0)


async def made_under(connection: AsyncConnection, scope: str, key: str) -> Kept | None:
    """What an Idempotency-Key made; until the caller's commit nobody else does anything under it."""
    await connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": f"{scope}\x1f{key}"})
    young = probes.c.created_at > func.now() - text(f"interval '{KEYS_KEPT}'")
    query = select(probes.c.id, probes.c.spec).where(probes.c.key_scope == scope, probes.c.key == key, young).order_by(probes.c.id.desc()).limit(1)
    row = (await connection.execute(query)).one_or_none()
    return await _other(connection, scope, key) if row is None else Kept("probe", row.id, row.spec)


async def _other(connection: AsyncConnection, scope: str, key: str) -> Kept | None:
    """The run or campaign that this key made."""
    table = idempotency_keys
    found = select(table.c.run_id, table.c.campaign_id, table.c.body).where(table.c.scope == scope, table.c.key == key)
    row = (await connection.execute(found)).one_or_none()
    if row is None:
        return None
    return Kept("campaign", row.campaign_id, row.body) if row.run_id is None else Kept("run", row.run_id, row.body)


async def add(connection: AsyncConnection, project: str, spec: ProbeSpec, submitted_by: str, key: tuple[str, str] | None) -> int:
    """A queued probe and its job, both seen by others only after the caller's commit."""
    scope, own = key or (None, None)
    queue = probe_queue(spec, project)
    values = {
        "project": project, "state": RunState.QUEUED, "spec": spec.model_dump(mode="json"), "tokenizer": spec.tokenizer, "model": spec.model.title,
        "queue": queue, "submitted_by": submitted_by, "key_scope": scope, "key": own,
    }  # fmt: skip
    probe = int((await connection.execute(insert(probes).values(values).returning(probes.c.id))).scalar_one())
    job = await jobs.defer(connection, queue, jobs.PROBE, f"probe-{probe}", {"probe": probe})
    await connection.execute(update(probes).where(probes.c.id == probe).values(job_id=job))
    return probe


async def find(connection: AsyncConnection, view: View, probe: int) -> Found | None:
    return (await connection.execute(select(probes, _RUNNER).where(probes.c.id == probe, view.of(probes)))).one_or_none()


async def newest(connection: AsyncConnection, view: View) -> int | None:
    found = await connection.scalar(select(func.max(probes.c.id)).where(view.of(probes)))
    return None if found is None else int(found)


async def page(connection: AsyncConnection, view: View, before: int | None, limit: int) -> list[Found]:
    """Newest first, one more than asked for."""
    older = [] if before is None else [probes.c.id < before]
    return list(await connection.execute(select(probes, _RUNNER).where(view.of(probes), *older).order_by(probes.c.id.desc()).limit(limit + 1)))


async def told(connection: AsyncConnection, view: View, digest: str | None, kind: str) -> list[tuple[int, float | None]]:
    """(layers, share of a draft token where `kind` is what was left out) that probes of the same weights found."""
    found = probes.c.found
    share = case((probes.c.spec["ablation"]["kind"].astext == kind, found["draft_share"].astext.cast(Double)), else_=None)
    same = (found["weights_digest"].astext == digest, view.of(probes))
    rows = await connection.execute(select(found["layers"].astext.cast(Integer), share).where(*same).distinct()) if digest is not None else ()
    return [(row[0], row[1]) for row in rows]


# --- who is at it -----------------------------------------------------------------------------------------------------------------------


async def waiting(connection: AsyncConnection, view: View) -> dict[str, ProbeSpec]:
    """Every queue in which a probe of the view waits, with one of its specs: equal queues have equal needs."""
    rows = await connection.execute(select(probes.c.queue, probes.c.spec).where(probes.c.state == RunState.QUEUED, view.of(probes)))
    return {row.queue: ProbeSpec.model_validate(row.spec) for row in rows}


async def take(connection: AsyncConnection, runner: Row[Any], queues: list[str], token_hash: bytes, seconds: float) -> Found | None:
    """The next probe of these queues, from now on held by this locked runner; None where there is none, or somebody else is changing it."""
    job = await jobs.fetch(connection, queues, await leases.worker_of(connection, runner))
    if job is None:
        return None
    locked = select(probes).where(probes.c.job_id == job.id, probes.c.state == RunState.QUEUED).with_for_update(skip_locked=True)
    row = (await connection.execute(locked)).one_or_none()
    if row is None:
        raise leases.RunIsHeld
    held = {
        "state": RunState.RUNNING, "runner_id": runner.id, "token_hash": token_hash, "lease_expires_at": leases.until(seconds),
        "started_at": func.clock_timestamp(),
    }  # fmt: skip
    await connection.execute(update(probes).where(probes.c.id == row.id).values(held))
    return row


async def locked(connection: AsyncConnection, probe: int) -> Found | None:
    expired = (probes.c.lease_expires_at < func.clock_timestamp()).label("expired")
    return (await connection.execute(select(probes, expired).where(probes.c.id == probe).with_for_update())).one_or_none()


async def beat(connection: AsyncConnection, row: Found, seconds: float) -> None:
    await connection.execute(update(probes).where(probes.c.id == row.id).values(lease_expires_at=leases.until(seconds)))
    now = func.clock_timestamp()
    seen = update(runners).where(runners.c.id == row.runner_id).values(last_seen=now).returning(runners.c.worker_id)
    worker = (await connection.execute(seen)).scalar_one()
    if worker is not None:
        await jobs.beat(connection, worker)


async def overdue(connection: AsyncConnection) -> list[int]:
    late = (probes.c.state == RunState.RUNNING, probes.c.lease_expires_at < func.clock_timestamp())
    return list(await connection.scalars(select(probes.c.id).where(*late).order_by(probes.c.id)))


async def end(connection: AsyncConnection, row: Found, end: ProbeEnd) -> RunState:
    """The runner's own word; its token stays, so that the same word may be said again."""
    if end.found is not None:
        return await _close(connection, row, RunState.SUCCEEDED, Status.SUCCEEDED, found=end.found.model_dump(mode="json"))
    said = {"failure": end.reason, "failure_code": end.code, "retry_makes_sense": end.retry_makes_sense}
    return await _close(connection, row, RunState.FAILED, Status.FAILED, **said)


async def lose(connection: AsyncConnection, row: Found, reason: str) -> RunState:
    """Ends an attempt without a result: back to the queue, or failed when this was the last one."""
    if row.attempt >= MAX_ATTEMPTS:
        failure = f"Given up after {MAX_ATTEMPTS} attempts without a result; the last one: {reason}"
        return await _close(connection, row, RunState.FAILED, Status.FAILED, failure=failure, failure_code="lost", retry_makes_sense=True)
    await jobs.requeue(connection, row.job_id)
    fresh = {"state": RunState.QUEUED, "attempt": row.attempt + 1, "runner_id": None, "token_hash": None, "lease_expires_at": None}
    await connection.execute(update(probes).where(probes.c.id == row.id).values(fresh | {"started_at": None}))
    return RunState.QUEUED


async def cancel(connection: AsyncConnection, row: Found) -> None:
    """Its runner, if it has one, learns of it at its next beat."""
    if row.state == RunState.QUEUED:
        await jobs.withdraw(connection, row.job_id)
    await _close(connection, row, RunState.CANCELLED, Status.ABORTED)


async def _close(connection: AsyncConnection, row: Found, state: RunState, status: Status, **values: Any) -> RunState:
    await jobs.finish(connection, row.job_id, status)
    closed = values | {"state": state, "finished_at": func.clock_timestamp()}
    await connection.execute(update(probes).where(probes.c.id == row.id).values(closed))
    return state
