"""`bezmen db`, and how commands reach the database: the configured one, or the embedded one, started for them if nobody serves."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from app.commands.settings import reachable, read
from app.errors import AppError, DatabaseUnavailable
from app.storage import backup
from app.storage.database import Database, address, first_words
from app.storage.embedded import EmbeddedPostgres
from app.storage.host import EmbeddedError
from app.storage.migrate import check, migrate

T = TypeVar("T")
FAILED = 3
app = typer.Typer(no_args_is_help=True, help="Look after the database.")


@asynccontextmanager
async def opened(*, migrated: bool = True) -> AsyncIterator[Database]:
    settings = reachable(read())
    postgres = EmbeddedPostgres(settings.data) if settings.database_url is None else None
    with postgres.borrowed() if postgres is not None else nullcontext():
        url = postgres.url() if postgres is not None else address(settings.database_url.get_secret_value() if settings.database_url else "")
        database = Database(url, pool_size=2)
        try:
            if migrated:
                await migrate(database)
            yield database
        finally:
            await database.close()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Ends the command with a sentence and status 3 where the database cannot be reached."""
    try:
        return asyncio.run(work)
    except (EmbeddedError, AppError) as error:
        said = first_words(error) if isinstance(error, DatabaseUnavailable) else error.detail if isinstance(error, AppError) else str(error)
        typer.echo(said, err=True)
        raise typer.Exit(FAILED) from error


@app.command()
def path() -> None:
    """Print where the embedded database lies."""
    settings = read()
    typer.echo(settings.data / "pg" if settings.embedded else "DATABASE_URL is set; nothing is embedded")


@app.command()
def stop() -> None:
    """Stop an embedded Postgres that a killed service left behind."""
    settings = read()
    if not settings.embedded:
        typer.echo("DATABASE_URL is set; nothing is embedded", err=True)
        raise typer.Exit(2)
    postgres = EmbeddedPostgres(settings.data)
    running = postgres.pid()
    postgres.stop()
    typer.echo(f"stopped {running}" if running else "it was not running")


@app.command("migrate")
def migrate_command() -> None:
    """Bring the schema up to date; `bezmen serve` does so by itself."""

    async def work() -> None:
        async with opened():
            typer.echo("the schema is up to date")

    run(work())


@app.command("backup")
def backup_command(file: Annotated[Path, typer.Argument(help="Where to; it must not be there yet.")]) -> None:
    """Write the whole database into one file, while the service may go on."""

    async def work() -> None:
        async with opened(migrated=False) as database:
            backup.dump(await backup.programs(database, read().data), file)

    run(work())
    typer.echo(f"{file}: {file.stat().st_size} bytes")


@app.command("restore")
def restore_command(
    file: Annotated[Path, typer.Argument(help="What `bezmen db backup` wrote.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a database that holds runs, suites, users or tokens.")] = False,
) -> None:
    """Put a backup in the place of the database, and bring its schema up to date; the service must not be running."""

    async def work() -> None:
        async with opened(migrated=False) as database:
            await backup.restore(database, await backup.programs(database, read().data), file, force=force)
            await migrate(database)

    run(work())
    typer.echo(f"{file} is restored")


@app.command("check")
def check_command() -> None:
    """Migrate, then compare the schema with the code (alembic check)."""

    async def work() -> None:
        async with opened() as database, database.transaction() as connection:
            await connection.run_sync(check)

    run(work())
