"""Whether the service should be sent requests now."""

import asyncio
from functools import cache

from app.errors import AppError
from app.operations import store
from app.storage.database import Database
from app.storage.migrate import head
from app.storage.notifications import Notifications


class NotReady(AppError):
    """The service is not ready"""

    status = 503


@cache
def newest() -> str:
    """The last migration of this code."""
    return head()


async def ready(database: Database, notifications: Notifications) -> str:
    """The version of the schema. Raises NotReady with the reason, DatabaseUnavailable."""
    if notifications.stopping.is_set():
        raise _not("The service is stopping.")
    async with database.transaction() as connection:
        found = await store.schema_version(connection)
    needed = await asyncio.to_thread(newest)
    if found != needed:
        raise _not(f"The database has schema {found or 'none'}, this service needs {needed}. Start the service anew, or upgrade it.")
    if not notifications.listening:
        raise _not("The service does not hear of the queue; it connects to the database anew in a second.")
    return found


def _not(said: str) -> NotReady:
    return NotReady(said, headers={"Retry-After": "2"})
