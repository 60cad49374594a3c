"""All SQL that reads the log of the service."""

from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.storage.tables import events, runs
from app.storage.view import View

# Of what happens to runs, what somebody did; a lost run goes back to the queue by itself.
OF_RUNS = ("queued", "cancelled")
OWN = "bezmen"


async def deeds(connection: AsyncConnection, view: View, cursor: int | None, limit: int) -> list[dict[str, Any]]:
    """Newest first."""
    joined = events.outerjoin(runs, runs.c.id == events.c.run_id)
    project = func.coalesce(events.c.project, runs.c.project)
    columns = (events.c.id, events.c.at, events.c.actor, events.c.kind, project.label("project"), events.c.run_id.label("run"), events.c.body)
    wanted = [or_(events.c.run_id.is_(None), events.c.kind.in_(OF_RUNS) & (events.c.actor != OWN)), or_(view.of(events), view.of(runs))]
    older = [] if cursor is None else [events.c.id < cursor]
    found = select(*columns).select_from(joined).where(*wanted, *older).order_by(events.c.id.desc()).limit(limit)
    return [dict(row._mapping) for row in await connection.execute(found)]
