"""The append-only log of what happened to runs and to the service, and who did it."""

from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.storage.tables import events


async def append(connection: AsyncConnection, run: int | None, kind: str, actor: str, *, project: str | None = None, **body: Any) -> None:
    """`project` is whose event it is where it is no run's; with neither it is the whole service's.

    A reader of one run sees its events in the order of their ids only if the run's row is locked by whoever appends."""
    await connection.execute(insert(events).values(run_id=run, project=project, kind=kind, actor=actor, body=body))


async def times(connection: AsyncConnection, kind: str, actor: str, project: str, hours: int) -> int:
    """How often somebody has done this in the last hours, no run's doing."""
    recent = events.c.at > func.now() - func.make_interval(0, 0, 0, 0, hours)
    same = (events.c.run_id.is_(None), events.c.kind == kind, events.c.actor == actor, events.c.project == project)
    return int(await connection.scalar(select(func.count()).where(*same, recent)) or 0)
