"""Faults between the service and its database, and facts as no runner should send them. (Lost leases and cancelled runs: test_leases.py.)"""

import json
import math
import random
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from alembic import command
from sqlalchemy import Connection, MetaData, Table, insert, select

from app.domain.facts import ProgressFact
from app.storage.database import Database
from app.storage.embedded import EmbeddedPostgres
from app.storage.migrate import configuration, migrate
from tests import factories
from tests.integration.conftest import Service, raw_batch, serving
from tests.integration.test_protocol import leased

CRASH = (
    "CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$",
    "CREATE TRIGGER crash BEFORE UPDATE ON procrastinate_jobs FOR EACH ROW WHEN (NEW.status = 'succeeded') EXECUTE FUNCTION crash()",
)


async def test_a_crash_between_result_and_job_leaves_neither(service: Service) -> None:
    """Catches a result whose job is still being done, after which the run would be measured a second time."""
    attempt = await leased(service)
    batches = await attempt.measure()
    for statement in CRASH:
        await service.sql(statement)
    try:
        assert (await attempt.finish(batches)).status_code == 503
        assert (await service.state(attempt.run))["state"] == "running"
        assert await service.sql("SELECT finish IS NULL, state FROM attempts") == [(True, "running")]
    finally:
        await service.sql("DROP FUNCTION crash CASCADE")
    for _ in range(2):
        assert (await attempt.finish(batches)).json()["state"] == "succeeded"
    assert await service.sql("SELECT status::text FROM procrastinate_jobs") == [("succeeded",)]
    assert await service.sql("SELECT count(*) FROM events WHERE kind = 'succeeded'") == [(1,)]


@pytest.mark.parametrize("left", ["todo", "doing"])
async def test_a_job_that_outlived_its_run_is_put_away(service: Service, left: str) -> None:
    """Catches a job, as a database put together from two backups may have it, that is measured again or keeps all others from being leased."""
    run = await service.finished()
    await service.sql("UPDATE procrastinate_jobs SET status = CAST(:left AS procrastinate_job_status), worker_id = NULL", left=left)
    later = await service.run()
    await service.sweep()
    assert (await service.lease()).run == later
    assert (await service.state(run))["state"] == "succeeded"
    assert await service.sql("SELECT count(*) FROM attempts WHERE run_id = :run", run=run) == [(1,)]
    ((status,),) = await service.sql("SELECT status::text FROM procrastinate_jobs j JOIN runs r ON r.job_id = j.id WHERE r.id = :run", run=run)
    assert status not in ("todo", "doing")


async def test_a_waiting_run_whose_job_is_gone_is_queued_anew(service: Service) -> None:
    """Catches a run that waits for ever because its job was finished or deleted under it."""
    await service.offer()
    runs = [await service.run(), await service.run()]
    await service.sql("UPDATE procrastinate_jobs SET status = 'failed' WHERE id = (SELECT job_id FROM runs WHERE id = :run)", run=runs[0])
    await service.sql("DELETE FROM procrastinate_jobs WHERE id = (SELECT job_id FROM runs WHERE id = :run)", run=runs[1])
    assert (await service.ask_lease()).status_code == 204
    await service.sweep()
    found = []
    for _ in runs:
        attempt = await service.lease()
        found.append(attempt.run)
        assert (await attempt.finish(await attempt.measure())).status_code == 200
    assert sorted(found) == runs


@pytest.mark.parametrize("stage", get_args(ProgressFact.model_fields["stage"].annotation))
async def test_cancelling_at_every_stage(service: Service, stage: str) -> None:
    """Catches a stage at which a cancel is overtaken by the rest of the measurement."""
    attempt = await leased(service)
    await attempt.send(0, [*factories.facts(prompts=1, passes=1), factories.progress_fact(stage=stage)])
    assert (await service.state(attempt.run))["progress"]["stage"] == stage
    assert (await service.client.post(f"/api/v1/runs/{attempt.run}/cancel", headers=service.admin)).json()["state"] == "cancelled"
    assert (await attempt.beat()).json()["action"] == "cancel"
    assert (await attempt.finish(1)).status_code == 409
    assert (await service.state(attempt.run))["state"] == "cancelled"


# --- facts --------------------------------------------------------------------------------------------------------------------------------


async def test_the_order_of_facts_is_no_fact(service: Service) -> None:
    """Catches a figure that depends on the order in which rows arrived: pairs are found by prompt and trial, never by neighbourhood."""
    facts = factories.facts()
    shuffled = [*facts]
    random.Random(3).shuffle(shuffled)
    reports = []
    for order in (facts, shuffled):
        attempt = await leased(service)
        assert (await attempt.send(0, order)).status_code == 200
        assert (await attempt.finish(1)).status_code == 200
        report = (await service.get(f"/api/v1/runs/{attempt.run}/report")).json()
        reports.append({name: report[name] for name in ("cells", "verdict", "losslessness", "headline")})
    assert reports[0] == reports[1]


def floats(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the floats of a JSON value are."""
    if isinstance(value, float):
        yield path
    elif isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value[:1]):
            yield from floats(inner, (*path, name))


async def test_no_number_of_any_fact_may_be_none(service: Service) -> None:
    """Catches a NaN or an infinity in any field of any fact: one of them makes every mean over it one."""
    attempt = await leased(service)
    kinds = {fact.kind: json.loads(fact.model_dump_json()) for fact in factories.facts(prompts=1, passes=1)}
    places = [(kind, path) for kind, fact in kinds.items() for path in floats(fact)]
    assert len(places) > 12
    for number, (kind, path) in enumerate(places):
        broken = json.loads(json.dumps(kinds[kind]))
        *way, last = path
        inner = broken
        for step in way:
            inner = inner[step]
        inner[last] = (math.nan, math.inf, -math.inf)[number % 3]
        answer = await attempt.post("facts", raw_batch(0, json.dumps([broken])))
        assert answer.status_code == 422, f"{kind} {path}"
    assert await service.sql("SELECT count(*) FROM batches") == [(0,)]


# --- older schemas ------------------------------------------------------------------------------------------------------------------------

REVISIONS = ("0004", "0005", "0007", "0009")


# The version is the older one's own; the queue writes its events by itself.
UNTOLD = ("alembic_version", "procrastinate_events")
HELD = {"runs", "attempts", "requests", "trials", "batches", "preflights", "events", "runners", "tokens", "reports", "procrastinate_jobs"}


def rows_of(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    found = MetaData()
    found.reflect(connection)
    return {name: [dict(row._mapping) for row in connection.execute(select(table))] for name, table in found.tables.items()}


def filled(connection: Connection, rows: dict[str, list[dict[str, Any]]]) -> set[str]:
    """Puts these rows into an older schema as far as it has a place for them; which tables hold some now."""
    older = MetaData()
    older.reflect(connection)
    names = [table.name for table in older.sorted_tables if table.name in rows and table.name not in UNTOLD]
    connection.exec_driver_sql(f"TRUNCATE {', '.join(names)} CASCADE")
    return {name for name in names if _fill(connection, older.tables[name], rows[name])}


def _fill(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> int:
    required = {column.name for column in table.columns if not column.nullable}
    fitting = [{name: value for name, value in row.items() if name in table.columns} for row in rows]
    fitting = [row for row in fitting if all(row[name] is not None for name in required)]
    numbered = [column.name for column in table.columns if column.identity]
    for name in numbered if fitting else ():
        connection.exec_driver_sql(f"ALTER TABLE {table.name} ALTER {name} SET GENERATED BY DEFAULT")
    if fitting:
        connection.execute(insert(table), fitting)
    for name in numbered if fitting else ():
        connection.exec_driver_sql(f"ALTER TABLE {table.name} ALTER {name} SET GENERATED ALWAYS")
        connection.exec_driver_sql(f"SELECT setval(pg_get_serial_sequence('{table.name}', '{name}'), (SELECT max({name}) FROM {table.name}))")
    return len(fitting)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_older_database_keeps_its_rows_and_its_report(service: Service, postgres: EmbeddedPostgres, revision: str) -> None:
    """Catches a migration that works on empty tables alone, and one after which an old run has other figures or a waiting one is not leased."""
    run = await service.finished()
    waits = await service.run()
    before = (await service.get(f"/api/v1/runs/{run}/report")).json()
    async with service.database.transaction() as connection:
        rows = await connection.run_sync(rows_of)
    name = f"from_{revision}"
    older = Database(postgres.create_database(name))
    try:
        async with older.transaction() as connection:
            await connection.run_sync(lambda made: command.upgrade(configuration(made), revision))
            there = await connection.run_sync(filled, rows)
        assert there >= HELD
        await migrate(older)
        async with serving(older) as upgraded:
            assert (await upgraded.get(f"/api/v1/runs/{run}/report")).json() == before
            attempt = await upgraded.lease(service.runner)
            assert attempt.run == waits
            assert (await attempt.finish(await attempt.measure())).json()["state"] == "succeeded"
    finally:
        await older.close()
        postgres.drop_database(name)
