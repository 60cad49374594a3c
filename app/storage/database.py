"""The engine and the transaction scope, which is the only place that commits."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from procrastinate.exceptions import ConnectorException
from sqlalchemy import URL, make_url, text
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from app.errors import DatabaseUnavailable, InvalidInput

logger = logging.getLogger(__name__)
DRIVER = "postgresql+psycopg"
# Connections for those that hold one already.
BESIDE = 2


class BadAddress(ValueError):
    """No address of a Postgres; the message is a sentence and does not repeat the address, which may hold a password."""


def address(text: str) -> URL:
    """A DATABASE_URL as people write it, for the one driver that we use. Raises BadAddress."""
    example = "postgresql://user:password@host:5432/database"
    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError) as error:
        raise BadAddress(f"DATABASE_URL is no address of a database; one looks like {example}.") from error
    kind = url.get_backend_name()
    if kind not in {"postgres", "postgresql"}:
        raise BadAddress(f"DATABASE_URL names a database of kind {kind}; only Postgres will do, such as {example}.")
    return url.set(drivername=DRIVER)


class Unstorable(InvalidInput):
    """The request holds characters or numbers that cannot be stored"""


class RuleBroken(InvalidInput):
    """The request breaks a rule of the tables"""


def rule_of(error: IntegrityError) -> str:
    """The constraint that a row broke, or the column that it left empty."""
    diag = getattr(error.orig, "diag", None)
    return getattr(diag, "constraint_name", None) or getattr(diag, "column_name", None) or "of its table"


def first_words(error: DatabaseUnavailable) -> str:
    """Why the server is away, in the driver's own first line, which names host and port and no password."""
    cause = error.__cause__
    said = str(getattr(cause, "orig", None) or cause or error.detail)
    return said.strip().splitlines()[0]


class Database:
    """One pool per process. Checked connections survive a restart of the server."""

    def __init__(self, url: URL, *, pool_size: int = 10) -> None:
        self.url = url
        self.engine = self._pool(pool_size)
        self._beside = self._pool(BESIDE)

    def _pool(self, size: int) -> AsyncEngine:
        return create_async_engine(
            self.url,
            pool_size=size,
            max_overflow=0,
            pool_timeout=30,
            pool_pre_ping=True,
            # An error of a statement goes into the log; its values may be the text of a private suite.
            hide_parameters=True,
            connect_args={"connect_timeout": 10, "options": "-c timezone=UTC"},
        )

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """Commits when the block ends, rolls everything back when it raises (jobs of the queue included).

        Raises DatabaseUnavailable when the server is away, Unstorable when it refuses a value (such as a NUL character),
        RuleBroken naming the rule when a row breaks one.
        """
        try:
            async with self.engine.begin() as connection:
                yield connection
        except (OperationalError, InterfaceError, PoolTimeout) as error:
            raise DatabaseUnavailable() from error
        except ConnectorException as error:
            # The queue speaks through the same connection and wraps what the driver says.
            if isinstance(error.__cause__, psycopg.OperationalError | psycopg.InterfaceError):
                raise DatabaseUnavailable() from error
            raise
        except (DataError, UnicodeEncodeError) as error:
            raise Unstorable("The request holds a character or a number that cannot be stored.") from error
        except IntegrityError as error:
            # A body should have been refused before; the trace tells where, and whoever sent it gets no 500.
            rule = rule_of(error)
            logger.warning("a row broke %s", rule, exc_info=error)
            raise RuleBroken(f"This cannot be stored: it breaks the rule {rule}.") from error
        except DBAPIError as error:
            if error.connection_invalidated:
                raise DatabaseUnavailable() from error
            raise

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[AsyncConnection]:
        """A second connection, to read through while the first one works. Of a pool of its own: who waits for it holds none that others need. Its
        errors are for the transaction around it."""
        async with self._beside.begin() as connection:
            yield connection

    async def ping(self) -> None:
        async with self.transaction() as connection:
            await connection.execute(text("SELECT 1"))

    async def close(self) -> None:
        await self.engine.dispose()
        await self._beside.dispose()
