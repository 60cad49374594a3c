"""Upgrades of a database with a row in every table, from each of the last schemas."""

import json
from typing import Any

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from app.storage.database import Database
from app.storage.embedded import EmbeddedPostgres
from app.storage.migrate import _scripts, check, configuration, migrate
from tests.integration.conftest import serving
from tests.integration.filled import fill

BACK = 4
OURS = "table_schema = 'public' AND table_name NOT LIKE 'procrastinate%' AND table_name <> 'alembic_version'"
SHAPE = (
    f"SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns WHERE {OURS}",
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
    "SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
)
PAGES = (
    "/runs", "/languages", "/landscape", "/suites", "/runners", "/methodology", "/submit", "/access", "/campaigns", "/campaigns/1",
    "/imports", "/api/v1/imports",
    "/probes", "/api/v1/probes", "/api/v1/runs", "/api/v1/languages", "/api/v1/landscape", "/api/v1/suites", "/api/v1/claims", "/api/v1/webhooks",
    "/metrics",
)  # fmt: skip
Rows = dict[str, list[dict[str, Any]]]


def previous() -> list[str]:
    """The last schemas before the present one, newest first."""
    return [script.revision for script in ScriptDirectory.from_config(_scripts()).walk_revisions()][1 : BACK + 1]


def go(connection: Connection, revision: str) -> None:
    """Down to a revision, or from nothing up to it."""
    there = connection.scalar(text("SELECT to_regclass('alembic_version')"))
    (command.downgrade if there else command.upgrade)(configuration(connection), revision)


async def to(database: Database, revision: str) -> None:
    async with database.transaction() as connection:
        await connection.run_sync(go, revision)


async def shape(database: Database) -> list[list[tuple[Any, ...]]]:
    async with database.transaction() as connection:
        return [sorted(tuple(map(str, row)) for row in await connection.execute(text(query))) for query in SHAPE]


async def rows(database: Database) -> Rows:
    async with database.transaction() as connection:
        names = list(await connection.scalars(text(f"SELECT table_name FROM information_schema.tables WHERE {OURS} AND table_type = 'BASE TABLE'")))
        return {name: [row[0] for row in await connection.execute(text(f"SELECT to_jsonb(t) FROM {name} AS t"))] for name in names}


def lost(before: Rows, after: Rows) -> list[tuple[str, dict[str, Any]]]:
    """Rows of before that are not there any more, or not with the same values in the columns that they had."""
    found = []
    for table, old in before.items():
        columns = old[0].keys() & after[table][0].keys()
        now = {json.dumps({name: row[name] for name in columns}, sort_keys=True) for row in after[table]}
        found += [(table, row) for row in old if json.dumps({name: row[name] for name in columns}, sort_keys=True) not in now]
    return found


@pytest.fixture
async def made(postgres: EmbeddedPostgres) -> Any:
    """Two databases beside the tests' own: one to be filled, one to be built up to a revision."""
    found = []
    for name in ("upgraded", "built"):
        postgres.drop_database(name)
        found.append(Database(postgres.create_database(name)))
    yield found
    for database in found:
        await database.close()


async def test_upgrades_lose_nothing(made: list[Database], postgres: EmbeddedPostgres) -> None:
    """Catches a migration that fails on rows, loses or changes some, or leaves a page that cannot show them; and a downgrade that leaves another
    schema than there was. A table that is new takes its row in tests/integration/filled.py."""
    database, _ = made
    await migrate(database)
    async with serving(database) as service:
        runs = await fill(service)
        report = (await service.get(f"/api/v1/runs/{runs['ru']}/report")).content
    assert not [name for name, found in (await rows(database)).items() if not found]
    for revision in previous():
        await to(database, revision)
        postgres.drop_database("built")
        built = Database(postgres.create_database("built"))
        await to(built, revision)
        assert await shape(database) == await shape(built), revision
        await built.close()
        before = await rows(database)
        assert not [name for name, found in before.items() if not found], revision
        await migrate(database)
        async with database.transaction() as connection:
            await connection.run_sync(check)
        assert lost(before, await rows(database)) == [], revision
        async with serving(database) as service:
            assert (await service.get(f"/api/v1/runs/{runs['ru']}/report")).content == report, revision
            for path in (*PAGES, *(f"/runs/{run}" for run in runs.values()), f"/compare?runs={runs['ru']},{runs['en']}"):
                answer = await service.client.get(path, headers=service.admin)
                assert answer.status_code == 200, (revision, path, answer.text[:300])


async def test_runs_of_before_say_their_parameters_in_full(made: list[Database], postgres: EmbeddedPostgres) -> None:
    """Catches old runs that cannot be compared with new ones, because they keep parameters as they were sent."""
    database, _ = made
    await migrate(database)
    async with serving(database) as service:
        await service.offer()
        run = await service.run()
        whole = (await service.state(run))["spec"]
    await to(database, "0013")
    sent = {kind: whole[kind] | {"params": {}} for kind in ("drafter", "controller")}
    async with database.transaction() as connection:
        query = text("UPDATE runs SET spec = spec || CAST(:sent AS jsonb) WHERE id = :run")
        await connection.execute(query, {"sent": json.dumps(sent), "run": run})
    await migrate(database)
    async with serving(database) as service:
        assert (await service.state(run))["spec"] == whole
        assert whole["controller"]["params"] == {"draft_tokens": 4}
