"""Leases: who measures which run, until when. Every write is fenced by the attempt that it belongs to.

The run's row is the truth and the queue's job only its transport. Whoever changes a run locks its row first; a job is fetched before that, so
a run that somebody else holds is skipped instead of waited for.
"""

from dataclasses import dataclass
from typing import Any

from procrastinate.jobs import Status
from sqlalchemy import ColumnElement, Double, Row, cast, func, insert, select, update
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.spec import RunSpec
from app.domain.status import FINAL, MAX_ATTEMPTS, AttemptState, RunState, may_become
from app.queue import jobs, outbox
from app.storage.journal import append
from app.storage.probe_tables import probes
from app.storage.tables import attempts, runners, runs
from app.storage.view import View

LIVE = (AttemptState.LEASED, AttemptState.RUNNING)


class RunIsHeld(Exception):
    """Somebody else is changing the run that the queue gave us; roll back and ask again."""


@dataclass(frozen=True)
class Taken:
    """A run that has just been leased, and the queue that it waited in."""

    attempt: int
    run: int
    number: int
    spec: RunSpec
    queue: str
    campaign: int | None


@dataclass(frozen=True)
class Held:
    """An attempt and its run, both locked. `expired` compares with the database's clock, the only one that counts."""

    attempt: int
    number: int
    state: AttemptState
    expired: bool
    batches: int
    finish: dict[str, Any] | None
    finish_batches: int | None
    runner: str
    runner_id: int
    worker: int | None
    run: int
    run_state: RunState
    current: int
    job: int

    @property
    def live(self) -> bool:
        return self.state in LIVE and self.number == self.current


def until(seconds: float) -> ColumnElement[Any]:
    return func.clock_timestamp() + func.make_interval(0, 0, 0, 0, 0, 0, cast(seconds, Double))


async def waiting(connection: AsyncConnection, view: View) -> dict[str, list[RunSpec]]:
    """Every queue in which a run of the view waits, with a spec for each drafter and controller in it; otherwise equal queues have equal needs."""
    key = (runs.c.queue, runs.c.spec["drafter"], runs.c.spec["controller"])
    one = select(runs.c.queue, runs.c.spec).ext(distinct_on(*key)).where(runs.c.state == RunState.QUEUED, view.of(runs)).order_by(*key)
    found: dict[str, list[RunSpec]] = {}
    for row in await connection.execute(one):
        found.setdefault(row.queue, []).append(RunSpec.model_validate(row.spec))
    return found


async def live_attempt(connection: AsyncConnection, runner: int) -> int | None:
    """The run that a runner is at."""
    found = await connection.scalar(select(attempts.c.run_id).where(attempts.c.runner_id == runner, attempts.c.state.in_(LIVE)))
    return None if found is None else int(found)


async def at_work(connection: AsyncConnection, runner: int) -> str | None:
    """The run or the probe that a runner is at, in words; one of them at most, since neither may be measured beside the other."""
    run = await live_attempt(connection, runner)
    probe = await connection.scalar(select(probes.c.id).where(probes.c.runner_id == runner, probes.c.state == RunState.RUNNING))
    return f"run {run}" if run is not None else None if probe is None else f"probe {probe}"


async def last_of(connection: AsyncConnection, runner: int) -> tuple[int, RunSpec] | None:
    """The campaign and the spec of the run that a runner measured last; None when that run belonged to no campaign, or there was none."""
    joined = attempts.join(runs, runs.c.id == attempts.c.run_id)
    latest = select(runs.c.campaign_id, runs.c.spec).select_from(joined).where(attempts.c.runner_id == runner).order_by(attempts.c.id.desc()).limit(1)
    row = (await connection.execute(latest)).one_or_none()
    return None if row is None or row.campaign_id is None else (row.campaign_id, RunSpec.model_validate(row.spec))


async def worker_of(connection: AsyncConnection, runner: Row[Any]) -> int:
    """The queue's worker that a locked runner is, alive as of now."""
    worker: int | None = runner.worker_id
    if worker is None:
        worker = await jobs.register_worker(connection)
        await connection.execute(update(runners).where(runners.c.id == runner.id).values(worker_id=worker))
    await jobs.beat(connection, worker)
    return worker


async def take(
    connection: AsyncConnection, runner: Row[Any], queues: list[str], token_hash: bytes, seconds: float, *, beside: int | None = None
) -> Taken | None:
    """The next run of these queues as a leased attempt, or None; `beside` names the attempt that it is measured together with. `runner` is locked.

    Raises RunIsHeld.
    """
    job = await jobs.fetch(connection, queues, await worker_of(connection, runner))
    if job is None:
        return None
    run = (await connection.execute(select(runs).where(runs.c.job_id == job.id).with_for_update(skip_locked=True))).one_or_none()
    if run is None or run.state != RunState.QUEUED:
        raise RunIsHeld
    made = insert(attempts).values(
        run_id=run.id, number=run.attempt, runner_id=runner.id, state=AttemptState.LEASED, token_hash=token_hash, lease_expires_at=until(seconds),
        beside_id=beside,
    )  # fmt: skip
    attempt = (await connection.execute(made.returning(attempts.c.id))).scalar_one()
    await move(connection, run.id, RunState(run.state), RunState.LEASED)
    await append(connection, run.id, "leased", runner.name, attempt=run.attempt, of=MAX_ATTEMPTS)
    return Taken(attempt, run.id, run.attempt, RunSpec.model_validate(run.spec), run.queue, run.campaign_id)


async def hold(connection: AsyncConnection, attempt: int) -> Held | None:
    """Locks a run, then its attempt."""
    run = await connection.scalar(select(attempts.c.run_id).where(attempts.c.id == attempt))
    if run is None:
        return None
    await connection.execute(select(runs.c.id).where(runs.c.id == run).with_for_update())
    joined = attempts.join(runs, runs.c.id == attempts.c.run_id).join(runners, runners.c.id == attempts.c.runner_id)
    columns = (
        attempts,
        (attempts.c.lease_expires_at < func.clock_timestamp()).label("expired"),
        runners.c.name.label("runner"),
        runners.c.worker_id,
        runs.c.state.label("run_state"),
        runs.c.attempt.label("current"),
        runs.c.job_id,
    )
    row = (await connection.execute(select(*columns).select_from(joined).where(attempts.c.id == attempt).with_for_update(of=attempts))).one()
    return Held(
        attempt=row.id,
        number=row.number,
        state=AttemptState(row.state),
        expired=row.expired,
        batches=row.batches,
        finish=row.finish,
        finish_batches=row.finish_batches,
        runner=row.runner,
        runner_id=row.runner_id,
        worker=row.worker_id,
        run=row.run_id,
        run_state=RunState(row.run_state),
        current=row.current,
        job=row.job_id,
    )


async def beat(connection: AsyncConnection, held: Held, seconds: float) -> None:
    await connection.execute(update(attempts).where(attempts.c.id == held.attempt).values(lease_expires_at=until(seconds)))
    await connection.execute(update(runners).where(runners.c.id == held.runner_id).values(last_seen=func.clock_timestamp()))
    if held.worker is not None:
        await jobs.beat(connection, held.worker)


async def begin(connection: AsyncConnection, held: Held) -> None:
    """The first facts are there."""
    now = func.clock_timestamp()
    await connection.execute(update(attempts).where(attempts.c.id == held.attempt).values(state=AttemptState.RUNNING, started_at=now))
    await move(connection, held.run, held.run_state, RunState.RUNNING, started_at=now)
    await append(connection, held.run, "running", held.runner, attempt=held.number, of=MAX_ATTEMPTS)


async def lose(connection: AsyncConnection, held: Held, kind: str, reason: str) -> None:
    """Ends an attempt without a result: the run goes back to the queue, or fails when this was its last attempt."""
    await _end_attempt(connection, held.attempt, AttemptState.LOST, reason=reason)
    await append(connection, held.run, kind, held.runner, attempt=held.number, of=MAX_ATTEMPTS, reason=reason)
    if held.number < MAX_ATTEMPTS:
        await jobs.requeue(connection, held.job)
        await move(connection, held.run, held.run_state, RunState.QUEUED, attempt=held.number + 1, started_at=None, progress=None)
        await append(connection, held.run, "queued", "bezmen", attempt=held.number + 1, of=MAX_ATTEMPTS)
        return
    failure = f"Given up after {MAX_ATTEMPTS} attempts without a result; the last one: {reason}"
    await close(connection, held, RunState.FAILED, failure=failure, failure_code="lost", retry_makes_sense=True)


async def stop(connection: AsyncConnection, held: Held, code: str, reason: str) -> None:
    """Ends a run that may not go on. Its runner hears of it at its next beat, as of a cancelled one."""
    await _end_attempt(connection, held.attempt, AttemptState.CANCELLED, reason=reason)
    await close(connection, held, RunState.FAILED, failure=reason, failure_code=code, retry_makes_sense=False)


async def close(connection: AsyncConnection, held: Held, state: RunState, **values: Any) -> None:
    """Brings a run to its final state; its attempt has ended already."""
    statuses = {RunState.SUCCEEDED: Status.SUCCEEDED, RunState.FAILED: Status.FAILED, RunState.CANCELLED: Status.ABORTED}
    await jobs.finish(connection, held.job, statuses[state])
    await move(connection, held.run, held.run_state, state, finished_at=func.clock_timestamp(), **values)
    said = {"reason": values["failure"]} if values.get("failure") else {}
    await append(connection, held.run, state.value, held.runner, attempt=held.number, of=MAX_ATTEMPTS, **said)


async def end(connection: AsyncConnection, held: Held, state: AttemptState, finish: dict[str, Any], batches: int, **values: Any) -> None:
    """The runner's own word on how it ended."""
    await _end_attempt(connection, held.attempt, state, finish=finish, finish_batches=batches)
    await close(connection, held, RunState(state.value), **values)


async def cancel(connection: AsyncConnection, view: View, run: int, actor: str) -> RunState | None:
    """Ends a run that has not ended yet; the state that it was in before, or None when the view has no such run.

    A runner that is at it learns of it at its next beat.
    """
    row = (await connection.execute(select(runs).where(runs.c.id == run, view.of(runs)).with_for_update())).one_or_none()
    if row is None:
        return None
    before = RunState(row.state)
    if before in FINAL:
        return before
    live = await connection.scalar(select(attempts.c.id).where(attempts.c.run_id == run, attempts.c.state.in_(LIVE)).with_for_update())
    if live is None:
        await jobs.withdraw(connection, row.job_id)
    else:
        await _end_attempt(connection, live, AttemptState.CANCELLED, reason=f"cancelled by {actor}")
        await jobs.finish(connection, row.job_id, Status.ABORTED)
    await move(connection, run, before, RunState.CANCELLED, finished_at=func.clock_timestamp())
    await append(connection, run, "cancelled", actor, attempt=row.attempt, of=MAX_ATTEMPTS)
    return before


async def move(connection: AsyncConnection, run: int, before: RunState, after: RunState, **values: Any) -> None:
    """The only place that changes a run's state and announces its end. Raises RuntimeError for a transition that the table does not know."""
    if not may_become(before, after):
        raise RuntimeError(f"run {run} cannot go from {before} to {after}")
    changed = await connection.execute(update(runs).where(runs.c.id == run, runs.c.state == before).values(state=after, **values))
    if changed.rowcount != 1:
        raise RuntimeError(f"run {run} was not {before} any more")
    if after in FINAL:
        await outbox.announce(connection, run, outbox.RUN_FINISHED)


async def _end_attempt(connection: AsyncConnection, attempt: int, state: AttemptState, **values: Any) -> None:
    await connection.execute(update(attempts).where(attempts.c.id == attempt).values(state=state, ended_at=func.clock_timestamp(), **values))
