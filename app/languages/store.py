"""All SQL of the languages page: the newest run of each kind, and a few figures of it."""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.status import RunState
from app.storage.fact_tables import figures, reports
from app.storage.kept import shown
from app.storage.privacy import private
from app.storage.tables import runs
from app.storage.view import View

MOST = 500
# Refusals that are listed; all are counted.
LISTED = 30
# What a run was stopped for before anything was measured.
STOPPED = ("language_differs", "tokenizer_differs")


async def newest(connection: AsyncConnection, view: View, analysis: str) -> list[Any]:
    """(run, runs, refused_runs, spec, outcome, refused, speedup, acceptance, analysis) of the newest finished run of each kind, newest first."""
    spec = runs.c.spec
    key = (
        runs.c.language, runs.c.model, runs.c.suite, runs.c.tokenizer, spec["model"], spec["drafter"], spec["controller"], spec["load"],
        spec["sampling"], spec["suite"],
    )  # fmt: skip
    of_runs = runs.join(reports, reports.c.run_id == runs.c.id)
    finished = (runs.c.state == RunState.SUCCEEDED, shown(analysis), view.of(runs))
    counted = (func.max(runs.c.id).label("run"), func.count().label("runs"), func.count().filter(reports.c.refused).label("refused_runs"))
    kinds = select(*counted).select_from(of_runs).where(*finished).group_by(*key).subquery()
    columns = (kinds, spec, reports.c.outcome, reports.c.refused, reports.c.speedup, reports.c.acceptance, reports.c.analysis)
    joined = kinds.join(runs, runs.c.id == kinds.c.run).join(reports, reports.c.run_id == kinds.c.run)
    return list(await connection.execute(select(*columns).select_from(joined).order_by(kinds.c.run.desc()).limit(MOST)))


async def refused(connection: AsyncConnection, view: View, analysis: str) -> list[Any]:
    """(id, language, drafter, speedup, acceptance) of finished runs whose figures are refused, newest first."""
    columns = (runs.c.id, runs.c.language, runs.c.drafter, reports.c.speedup, reports.c.acceptance)
    query = select(*columns).select_from(runs.join(reports, reports.c.run_id == runs.c.id))
    mine = (runs.c.state == RunState.SUCCEEDED, shown(analysis), reports.c.refused, view.of(runs))
    return list(await connection.execute(query.where(*mine).order_by(runs.c.id.desc()).limit(LISTED)))


async def cells(connection: AsyncConnection, ids: list[int], wanted: tuple[str, ...]) -> list[Any]:
    """(run_id, cell) of these figures of these runs, whatever their part."""
    query = select(figures.c.run_id, figures.c.cell).where(figures.c.run_id.in_(ids), figures.c.figure.in_(wanted))
    return list(await connection.execute(query.order_by(figures.c.run_id, figures.c.position)))


async def stopped(connection: AsyncConnection, view: View) -> list[Any]:
    """(id, drafter, language, failure, failure_code, private) of runs that were not as they said, newest first."""
    columns = (runs.c.id, runs.c.drafter, runs.c.language, runs.c.failure, runs.c.failure_code, private().label("private"))
    query = select(*columns).where(runs.c.state == RunState.FAILED, runs.c.failure_code.in_(STOPPED), view.of(runs))
    return list(await connection.execute(query.order_by(runs.c.id.desc()).limit(LISTED)))
