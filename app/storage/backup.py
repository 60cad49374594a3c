"""The whole database as one file, and back: Postgres's own pg_dump and pg_restore, whatever made the database.

A restore is one transaction: it happens wholly or not at all. The password goes by the environment, never by the command line.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from sqlalchemy import URL, text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.storage import host
from app.storage.database import Database
from app.storage.host import EmbeddedError
from app.storage.migrate import known

# Tables whose rows somebody would miss; the others hold what the service enters by itself.
MISSED = ("runs", "campaigns", "stored_suites", "imports", "users", "tokens")
VERSION = re.compile(r"^COPY \S*alembic_version .*\n(\S+)$", re.MULTILINE)
CLEAR = "DROP SCHEMA public CASCADE; CREATE SCHEMA public;"


class BackupError(EmbeddedError):
    """A backup cannot be made or used; the message says why and what to do."""


class Programs:
    """Postgres's client programs for one database."""

    def __init__(self, folder: Path, url: URL) -> None:
        self._folder = folder
        self._environment = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ} | _connection(url)

    def run(self, program: str, *arguments: str, input: IO[bytes] | None = None, output: IO[bytes] | None = None) -> None:
        """Raises BackupError with the program's own words."""
        done = subprocess.run(
            [str(self._folder / program), *arguments], env=self._environment, stdin=input or subprocess.DEVNULL,
            stdout=output or subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
        if done.returncode:
            raise BackupError(f"{program} failed: {done.stderr.decode(errors='replace').strip()[-2000:]}")


def _connection(url: URL) -> dict[str, str]:
    where = url.query.get("host", url.host)
    given = {"PGHOST": where, "PGPORT": url.port, "PGUSER": url.username, "PGPASSWORD": url.password, "PGDATABASE": url.database}
    given["PGSSLMODE"] = url.query.get("sslmode")
    return {name: str(value) for name, value in given.items() if value}


async def programs(database: Database, data: Path) -> Programs:
    """Those of the embedded Postgres, or of PATH where that one is absent or older than the server. Raises BackupError."""
    async with database.transaction() as connection:
        server = int(str(await connection.scalar(text("SHOW server_version_num")))) // 10000
    found = [folder for folder in _folders(data) if _major(folder) >= server]
    if not found:
        raise BackupError(f"There is no pg_dump of Postgres {server} or newer here. On Debian: apt-get install postgresql-client-{server}.")
    return Programs(found[0], database.url)


def _folders(data: Path) -> list[Path]:
    found = []
    with contextlib.suppress(EmbeddedError):
        found.append(host.programs(data))
    installed = shutil.which("pg_dump")
    return [*found, *([Path(installed).parent] if installed else [])]


def _major(folder: Path) -> int:
    said = subprocess.run([str(folder / "pg_dump"), "--version"], capture_output=True, text=True, check=False).stdout
    number = re.search(r"\) (\d+)", said)
    return int(number.group(1)) if number else 0


def dump(tools: Programs, file: Path) -> None:
    """Writes the file, readable by its owner alone; it appears under its name only when it is whole. Raises BackupError."""
    if file.exists():
        raise BackupError(f"{file} is there already; name another file, or remove it.")
    partial = file.with_name(file.name + ".partial")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as whole:
        try:
            tools.run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", output=whole)
        except BaseException:
            partial.unlink()
            raise
    partial.rename(file)


async def restore(database: Database, tools: Programs, file: Path, *, force: bool) -> None:
    """Puts the file's contents in the place of everything in the database. Raises BackupError, also where rows would be lost without `force`."""
    _check(tools, file)
    async with database.transaction() as connection:
        await _require_alone(connection)
        held = await _missed(connection)
    if held and not force:
        raise BackupError(f"The database holds {', '.join(held)}, which a restore would replace. Back it up first, then add --force.")
    await database.engine.dispose()
    with tempfile.TemporaryFile() as script:
        tools.run("pg_restore", "--no-owner", "--no-privileges", "--file=-", str(file), output=script)
        script.seek(0)
        once = ("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1")
        tools.run("psql", *once, f"--command={CLEAR}", "--file=-", input=script)


def _check(tools: Programs, file: Path) -> None:
    if not file.is_file():
        raise BackupError(f"There is no file {file}.")
    with tempfile.TemporaryFile() as script:
        try:
            tools.run("pg_restore", "--data-only", "--table=alembic_version", "--file=-", str(file), output=script)
        except BackupError as error:
            raise BackupError(f"{file} is no backup that `bezmen db backup` made: {error}") from error
        script.seek(0)
        version = VERSION.search(script.read().decode())
    if version is None:
        raise BackupError(f"{file} is a backup of another database, not of Bezmen.")
    if version.group(1) not in known():
        raise BackupError(f"{file} has schema {version.group(1)}, which a newer version of Bezmen made; restore it with that version.")


async def _require_alone(connection: AsyncConnection) -> None:
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    if await connection.scalar(text(others)):
        raise BackupError("Somebody is connected to this database, the service most likely. Stop it, restore, and start it again.")


async def _missed(connection: AsyncConnection) -> Sequence[str]:
    found = []
    for table in MISSED:
        if await connection.scalar(text("SELECT to_regclass(:name)"), {"name": table}) is not None:
            rows = await connection.scalar(text(f"SELECT count(*) FROM {table}"))
            found += [f"{rows} {table.replace('_', ' ')}"] if rows else []
    return found
