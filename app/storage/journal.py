"""The append-only log of what happened to runs, and who did it."""

from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.storage.tables import events


async def append(connection: AsyncConnection, run: int | None, kind: str, actor: str, **body: Any) -> None:
    """A reader of one run sees its events in the order of their ids only if the run's row is locked by whoever appends."""
    await connection.execute(insert(events).values(run_id=run, kind=kind, actor=actor, body=body))
