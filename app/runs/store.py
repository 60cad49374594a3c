"""All SQL about runs: submitting, listing, their events. (Facts and reports: records.py.)"""

from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, insert, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.spec import RunSpec
from app.domain.status import RunState
from app.domain.withheld import untold
from app.queue import jobs
from app.queue.labels import queue_of
from app.runs.schemas import EventOut, RunFilter
from app.storage.fact_tables import reports
from app.storage.journal import append
from app.storage.privacy import private
from app.storage.retention_tables import forgotten
from app.storage.tables import attempts, events, runners, runs
from app.storage.view import View

# A row of many columns; what it holds is checked when it becomes a schema.
Found = Any

# Written out, not bound: a grouped expression must read the same in both places.
_SHOWN = case((reports.c.outcome.is_not(None) & reports.c.refused, literal_column("'refused'")), else_=reports.c.outcome)
# Events whose `reason` may be a runner's own.
TOLD_BY_RUNNERS = (RunState.FAILED.value, "released")
_FACETS: dict[str, ColumnElement[Any]] = {"language": runs.c.language, "drafter": runs.c.drafter, "outcome": _SHOWN, "state": runs.c.state}


async def queued_by(connection: AsyncConnection, project: str, name: str) -> int:
    mine = (runs.c.project == project, runs.c.submitted_by == name, runs.c.state == RunState.QUEUED)
    return int(await connection.scalar(select(func.count()).where(*mine)) or 0)


async def add(
    connection: AsyncConnection,
    project: str,
    spec: RunSpec,
    submitted_by: str,
    *,
    campaign: int | None = None,
    queue: str | None = None,
    digest: str | None = None,
) -> int:
    """A queued run and its job, both seen by others only after the caller's commit; without a `queue` it waits where its needs are met.

    `digest` is that of an earlier run of the same measurement, which may come from an older version."""
    queue = queue or queue_of(spec, project)
    row = {
        "project": project,
        "campaign_id": campaign,
        "state": RunState.QUEUED,
        "spec": spec.model_dump(mode="json"),
        "spec_digest": digest or spec.digest(),
        "language": spec.language,
        "tokenizer": spec.tokenizer,
        "model": spec.model.title,
        "drafter": spec.drafter.name,
        "suite": spec.suite.id,
        "queue": queue,
        "submitted_by": submitted_by,
    }
    run = int((await connection.execute(insert(runs).values(row).returning(runs.c.id))).scalar_one())
    job = await jobs.dispatch(connection, run, queue)
    await connection.execute(update(runs).where(runs.c.id == run).values(job_id=job))
    await append(connection, run, "queued", submitted_by, attempt=1)
    return run


async def newest(connection: AsyncConnection, view: View) -> int | None:
    found = await connection.scalar(select(func.max(runs.c.id)).where(view.of(runs)))
    return None if found is None else int(found)


def _summaries() -> Select[Any]:
    line = runs.alias("line")
    ahead = select(func.count()).where(line.c.state == RunState.QUEUED, line.c.job_id <= runs.c.job_id).scalar_subquery()
    at = attempts.join(runners, runners.c.id == attempts.c.runner_id)
    runner = select(runners.c.name).select_from(at).where(attempts.c.run_id == runs.c.id, attempts.c.number == runs.c.attempt).scalar_subquery()
    deleted = select(forgotten.c.at).where(forgotten.c.run_id == runs.c.id).scalar_subquery()
    position = case((runs.c.state == RunState.QUEUED, ahead))
    shown = (private().label("private"), reports.c.outcome, reports.c.refused, reports.c.speedup, reports.c.acceptance, reports.c.analysis)
    return select(runs, runner.label("runner"), deleted.label("facts_deleted_at"), position.label("queue_position"), *shown).select_from(_joined())


def _joined() -> Any:
    return runs.outerjoin(reports, reports.c.run_id == runs.c.id)


async def exists(connection: AsyncConnection, view: View, run: int) -> bool:
    return await connection.scalar(select(runs.c.id).where(runs.c.id == run, view.of(runs))) is not None


async def find(connection: AsyncConnection, view: View, run: int) -> Found | None:
    return (await connection.execute(_summaries().where(runs.c.id == run, view.of(runs)))).one_or_none()


async def of_campaign(connection: AsyncConnection, view: View, campaign: int) -> list[Found]:
    """All runs that a campaign ever had, oldest first."""
    return list(await connection.execute(_summaries().where(runs.c.campaign_id == campaign, view.of(runs)).order_by(runs.c.id)))


def _conditions(view: View, wanted: RunFilter, *, without: str | None = None) -> list[ColumnElement[bool]]:
    others = {name: column for name, column in _FACETS.items() if name != without}
    return [view.of(runs)] + [column == getattr(wanted, name) for name, column in others.items() if getattr(wanted, name) is not None]


async def page(connection: AsyncConnection, view: View, wanted: RunFilter) -> list[Found]:
    """Newest first, one more than asked for, so that the caller sees whether there is a next page."""
    older = [] if wanted.cursor is None else [runs.c.id < wanted.cursor]
    query = _summaries().where(*_conditions(view, wanted), *older).order_by(runs.c.id.desc()).limit(wanted.limit + 1)
    return list(await connection.execute(query))


async def total(connection: AsyncConnection, view: View, wanted: RunFilter) -> int:
    return int(await connection.scalar(select(func.count()).select_from(_joined()).where(*_conditions(view, wanted))) or 0)


async def facet(connection: AsyncConnection, view: View, name: str, wanted: RunFilter) -> dict[str, int]:
    column = _FACETS[name]
    query = select(column, func.count()).select_from(_joined()).where(*_conditions(view, wanted, without=name), column.is_not(None))
    return {row[0]: row[1] for row in await connection.execute(query.group_by(column).order_by(column))}


def facets() -> tuple[str, ...]:
    return tuple(_FACETS)


async def events_after(connection: AsyncConnection, run: int, after: int, limit: int = 1000) -> list[EventOut]:
    joined = events.join(runs, runs.c.id == events.c.run_id)
    columns = (events, private().label("private"), runs.c.failure_code)
    query = select(*columns).select_from(joined).where(events.c.run_id == run, events.c.id > after).order_by(events.c.id).limit(limit)
    return [EventOut(id=row.id, run=row.run_id, at=row.at, kind=row.kind, body=_told(row)) for row in await connection.execute(query)]


def _told(event: Found) -> dict[str, Any]:
    """What an event says; of a private run's end only what the service words itself."""
    body: dict[str, Any] = event.body
    if not event.private or event.kind not in TOLD_BY_RUNNERS or "reason" not in body:
        return body
    return body | {"reason": untold(body["reason"], event.failure_code if event.kind == RunState.FAILED else None)}
