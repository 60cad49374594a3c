"""A backup with rows comes back as it was, and a restore loses nothing that nobody gave up."""

import asyncio
import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from sqlalchemy import text

from app.storage import backup
from app.storage.backup import BackupError, Programs
from app.storage.database import Database
from app.storage.embedded import EmbeddedPostgres
from app.storage.migrate import check, migrate
from app.storage.schema import METADATA
from tests.integration.conftest import Place, Service, serving
from tests.integration.filled import fill

Rows = dict[str, list[str]]


async def rows_of(database: Database) -> Rows:
    found = {}
    async with database.transaction() as connection:
        for name in [*(table.name for table in METADATA.sorted_tables), "procrastinate_jobs", "alembic_version"]:
            found[name] = sorted(str(row[0]) for row in await connection.execute(text(f"SELECT to_jsonb({name}) FROM {name}")))
    return found


async def reports_of(service: Service, runs: Iterable[int]) -> list[bytes]:
    return [(await service.client.get(f"/api/v1/runs/{run}/report", headers=service.admin)).content for run in runs]


@pytest.fixture
async def other(postgres: EmbeddedPostgres) -> Database:
    """A database beside the tests' own: empty, without a schema."""
    postgres.drop_database("restored")
    return Database(postgres.create_database("restored"))


async def restored(database: Database, tools: Programs, file: Path, *, force: bool = False) -> None:
    await backup.restore(database, tools, file, force=force)
    await migrate(database)


async def test_round_trip_with_rows(service: Service, postgres: EmbeddedPostgres, other: Database, tmp_path: Path) -> None:
    """Catches a table, sequence, trigger or job of the queue that a backup forgets, and a report that comes out as another; twice, since the first
    restore makes the schema anew. No table is empty."""
    runs = await fill(service)
    reports = await reports_of(service, runs.values())
    before = await rows_of(service.database)
    assert not [name for name, found in before.items() if not found]
    file, again = tmp_path / "one.dump", tmp_path / "two.dump"
    backup.dump(await backup.programs(service.database, postgres.data), file)
    assert os.stat(file).st_mode & 0o077 == 0
    tools = await backup.programs(other, postgres.data)
    await restored(other, tools, file)
    assert await rows_of(other) == before
    backup.dump(tools, again)
    await other.close()
    await restored(other, tools, again, force=True)
    assert await rows_of(other) == before
    async with serving(other) as elsewhere:
        assert await reports_of(elsewhere, runs.values()) == reports
        await elsewhere.sql("DELETE FROM figures WHERE run_id = :run", run=runs["en"])
        await elsewhere.sql("DELETE FROM reports WHERE run_id = :run", run=runs["en"])
        anew = await reports_of(elsewhere, runs.values())
        assert list(map(json.loads, anew)) == list(map(json.loads, reports))
    async with other.transaction() as connection:
        await connection.run_sync(check)
        made = "INSERT INTO campaigns (project, title, submitted_by) VALUES ('default', 'new', 'me')"
        await connection.execute(text(made))
    with pytest.raises(Exception, match=r"append-only|only ever added|refuse"):
        async with other.transaction() as connection:
            await connection.execute(text("DELETE FROM requests"))
    await other.close()


async def test_rows_are_not_lost_by_accident(service: Service, postgres: EmbeddedPostgres, other: Database, tmp_path: Path) -> None:
    """Catches a restore over runs without --force, under a service that runs, or of a file that is no backup: nothing may have changed then."""
    await service.finished()
    file = tmp_path / "one.dump"
    tools = await backup.programs(other, postgres.data)
    backup.dump(await backup.programs(service.database, postgres.data), file)
    with pytest.raises(BackupError, match="is there already"):
        backup.dump(tools, file)
    await restored(other, tools, file)
    before = await rows_of(other)
    await other.close()
    with pytest.raises(BackupError, match=r"holds 1 runs.* add --force"):
        await restored(other, tools, file)
    broken = tmp_path / "broken.dump"
    broken.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    junk = tmp_path / "junk.dump"
    junk.write_text("no backup")
    for wrong in (broken, junk, tmp_path / "absent.dump"):
        await other.close()
        with pytest.raises(BackupError):
            await restored(other, tools, wrong, force=True)
    with pytest.raises(BackupError, match="Stop it"):
        await restored(service.database, await backup.programs(service.database, postgres.data), file, force=True)
    await other.close()
    assert await rows_of(other) == before
    await other.close()


async def test_the_commands(place: Place) -> None:
    """Catches commands that do not find the embedded database, and a refusal without words or status."""
    file = place.data / "kept.dump"
    for arguments, status in ((("token", "create", "ci", "--scope", "read"), 0), (("db", "backup", str(file)), 0), (("db", "restore", str(file)), 3)):
        code, out, error = await asyncio.to_thread(place.run, *arguments)
        assert code == status, out + error
    assert "1 tokens" in error
    code, out, error = await asyncio.to_thread(place.run, "db", "restore", str(file), "--force")
    assert (code, out.strip()) == (0, f"{file} is restored"), error
