"""Runs migrations on the connection that the application hands over, or, from the command line, on the configured database."""

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import context
from sqlalchemy import Connection, create_engine

from app.settings import Settings
from app.storage.database import address
from app.storage.embedded import EmbeddedPostgres
from app.storage.schema import METADATA


def ours(name: str | None, kind: str, _parents: object) -> bool:
    """The queue's own tables come from its frozen schema, not from our metadata."""
    return not (kind == "table" and name is not None and name.startswith("procrastinate_"))


def migrate(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=METADATA, include_name=ours, compare_type=True, compare_server_default=True)
    with context.begin_transaction():
        context.run_migrations()


@contextmanager
def connected() -> Iterator[Connection]:
    given = context.config.attributes.get("connection")
    if isinstance(given, Connection):
        yield given
        return
    settings = Settings()
    if settings.database_url is not None:
        with create_engine(address(settings.database_url.get_secret_value())).begin() as connection:
            yield connection
        return
    postgres = EmbeddedPostgres(settings.data)
    with postgres.borrowed():
        engine = create_engine(postgres.url())
        with engine.begin() as connection:
            yield connection
        engine.dispose()


with connected() as connection:
    migrate(connection)
