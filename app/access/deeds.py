"""Who did what: the log of the service, as far as people and programs did it (and not a runner's progress)."""

from datetime import datetime
from typing import Any

from fastapi import Request

from app.access import log
from app.access.seen import Seen, Who, narrowed
from app.domain.value import Value
from app.storage.database import Database


class Deed(Value):
    """`project` is None for what concerns the whole service."""

    id: int
    at: datetime
    actor: str
    kind: str
    project: str | None
    run: int | None = None
    body: dict[str, Any]


class DeedPage(Value):
    """Newest first; `next_cursor` continues."""

    items: list[Deed]
    next_cursor: int | None = None


class Deeds(Seen):
    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, cursor: int | None, limit: int) -> DeedPage:
        async with self._database.transaction() as connection:
            rows = await log.deeds(connection, self.view, cursor, limit + 1)
        items = [Deed.model_validate(row) for row in rows[:limit]]
        return DeedPage(items=items, next_cursor=items[-1].id if len(rows) > limit else None)


def deeds_service(request: Request, who: Who) -> Deeds:
    return narrowed(request, Deeds, who)
