"""All SQL that looks at the service as a machine: its schema, its line, its runners. Nothing here names a project or what somebody wrote."""

from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.status import AttemptState, RunState
from app.queue.leases import LIVE
from app.queue.sweeper import SILENT
from app.storage.fact_tables import figures
from app.storage.probe_tables import probes
from app.storage.tables import attempts, runs
from app.storage.view import View

Labelled = dict[tuple[str, ...], float]


async def schema_version(connection: AsyncConnection) -> str | None:
    """The migration that was applied last; None for a database without any."""
    if await connection.scalar(text("SELECT to_regclass('alembic_version')")) is None:
        return None
    found = await connection.scalar(text("SELECT version_num FROM alembic_version"))
    return None if found is None else str(found)


async def line(connection: AsyncConnection, view: View) -> list[tuple[str, int, float]]:
    """Of each queue with runs that wait: its name, how many, and the seconds since the oldest was submitted."""
    age = func.extract("epoch", func.clock_timestamp() - func.min(runs.c.created_at))
    waiting = select(runs.c.queue, func.count(), age).where(runs.c.state == RunState.QUEUED, view.of(runs)).group_by(runs.c.queue)
    return [(row[0], int(row[1]), float(row[2])) for row in await connection.execute(waiting)]


async def runs_by_state(connection: AsyncConnection, view: View) -> Labelled:
    return _labelled(await connection.execute(select(runs.c.state, func.count()).where(view.of(runs)).group_by(runs.c.state)))


async def probes_by_state(connection: AsyncConnection, view: View) -> Labelled:
    return _labelled(await connection.execute(select(probes.c.state, func.count()).where(view.of(probes)).group_by(probes.c.state)))


async def oldest_probe(connection: AsyncConnection, view: View) -> float:
    """The seconds since the oldest probe that waits was submitted; 0 where none waits."""
    age = func.extract("epoch", func.clock_timestamp() - func.min(probes.c.created_at))
    return float(await connection.scalar(select(age).where(probes.c.state == RunState.QUEUED, view.of(probes))) or 0)


async def leases_alive(connection: AsyncConnection, view: View) -> int:
    joined = attempts.join(runs, runs.c.id == attempts.c.run_id)
    return int(await connection.scalar(select(func.count()).select_from(joined).where(attempts.c.state.in_(LIVE), view.of(runs))) or 0)


async def attempts_by_end(connection: AsyncConnection, view: View) -> Labelled:
    """Those that have ended; of the ones without a result `silent` are those whose runner was lost, `released` those that it gave back."""
    silent = attempts.c.reason.startswith(SILENT)
    lost = attempts.c.state == AttemptState.LOST
    joined = attempts.join(runs, runs.c.id == attempts.c.run_id)
    found: Labelled = {}
    for state, gone, count in await connection.execute(
        select(attempts.c.state, (lost & silent).label("gone"), func.count())
        .select_from(joined)
        .where(attempts.c.state.not_in(LIVE), view.of(runs))
        .group_by(attempts.c.state, text("gone"))
    ):
        end = ("silent" if gone else "released") if state == AttemptState.LOST else str(state)
        found[(end,)] = found.get((end,), 0) + count
    return found


async def refusals(connection: AsyncConnection, view: View) -> Labelled:
    """Refused figures by the field or gate that refused them."""
    field = figures.c.cell["field"].astext
    joined = figures.join(runs, runs.c.id == figures.c.run_id)
    # By its place: the expression holds a bound value and would not read the same twice.
    query = select(field, func.count()).select_from(joined).where(figures.c.kind == "refusal", view.of(runs)).group_by(text("1"))
    return _labelled(await connection.execute(query))


def _labelled(rows: Any) -> Labelled:
    return {(str(row[0]),): float(row[1]) for row in rows}
