"""All SQL about how quiet runners were, and about the probes that wait for them."""

from collections import defaultdict
from typing import Any

from sqlalchemy import Row, func, select, true
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.status import RunState
from app.storage.fact_tables import reports, trials
from app.storage.probe_tables import probes
from app.storage.tables import attempts, runners, runs
from app.storage.view import View

LAST = 10


async def disturbed(connection: AsyncConnection, view: View) -> dict[int, tuple[int, int]]:
    """{runner: (its last timed trials, LAST at most, disturbed ones of them)}."""
    of_runs = trials.join(attempts, attempts.c.id == trials.c.attempt_id).join(runs, runs.c.id == attempts.c.run_id)
    own = (attempts.c.runner_id == runners.c.id, trials.c.purpose == "headline", view.of(runs))
    recent = select(trials.c.contended).select_from(of_runs).where(*own).order_by(trials.c.id.desc()).limit(LAST).lateral()
    query = select(runners.c.id, func.count(), func.count().filter(recent.c.contended)).select_from(runners.join(recent, true()))
    return {row[0]: (row[1], row[2]) for row in await connection.execute(query.group_by(runners.c.id))}


async def floors(connection: AsyncConnection, view: View) -> dict[int, list[tuple[int, Any]]]:
    """{runner: [(run, noise floor)]} of its last runs that have one, the newest first, LAST at most."""
    floor = reports.c.report["verdict"]["noise_floor"]
    of_runs = reports.join(runs, runs.c.id == reports.c.run_id).join(
        attempts, (attempts.c.run_id == runs.c.id) & (attempts.c.number == runs.c.attempt)
    )
    own = (attempts.c.runner_id == runners.c.id, func.jsonb_typeof(floor) == "object", view.of(runs))
    newest = select(runs.c.id.label("run"), floor.label("floor")).select_from(of_runs).where(*own).order_by(runs.c.id.desc()).limit(LAST).lateral()
    query = select(runners.c.id, newest.c.run, newest.c.floor).select_from(runners.join(newest, true())).order_by(newest.c.run.desc())
    found: dict[int, list[tuple[int, Any]]] = defaultdict(list)
    for row in await connection.execute(query):
        found[row[0]].append((row.run, row.floor))
    return found


async def probes_waiting(connection: AsyncConnection, view: View, most: int) -> list[Row[Any]]:
    """The oldest of them, with what they ask for."""
    query = select(probes.c.id, probes.c.created_at, probes.c.spec).where(probes.c.state == RunState.QUEUED, view.of(probes))
    return list(await connection.execute(query.order_by(probes.c.id).limit(most)))
