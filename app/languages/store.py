"""All SQL of the languages page: one run of each kind, and a few figures of it."""

from typing import Any

from sqlalchemy import case, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.status import RunState
from app.storage.fact_tables import figures, reports
from app.storage.kept import shown
from app.storage.privacy import private
from app.storage.tables import attempts, environments, runs
from app.storage.view import View

MOST = 500
# Refusals that are listed; all are counted.
LISTED = 30
# What a run was stopped for before anything was measured.
STOPPED = ("language_differs", "tokenizer_differs")


# What two finished runs of one kind agree in beside language, tokenizer, compilation and device: all that their numbers depend on.
ASKED = (
    "model", "engine", "drafter", "controller", "verifier", "load", "sampling", "suite", "stop", "ignore_eos", "max_new_tokens", "chat_template",
)  # fmt: skip


async def newest(connection: AsyncConnection, view: View, analysis: str) -> list[Any]:
    """(run, runs, refused_runs, device, spec, outcome, refused, speedup, acceptance, analysis) of a finished run of each kind, newest first: the
    newest of those that have both speed-up and acceptance, or else the newest of those that have one of them, or the newest of all."""
    spec = runs.c.spec
    # Rows of before forwards could be compiled do not name it.
    key = (environments.c.device, runs.c.language, runs.c.tokenizer, func.coalesce(spec["compile"].astext, "false"), *(spec[name] for name in ASKED))
    has = sum((case((cell.has_key("pooled"), 1), else_=0) for cell in (reports.c.speedup, reports.c.acceptance)), start=literal(0))
    place = func.row_number().over(partition_by=key, order_by=(func.coalesce(has, 0).desc(), runs.c.id.desc()))
    counted = (
        func.count().over(partition_by=key).label("runs"), func.count().filter(reports.c.refused).over(partition_by=key).label("refused_runs"),
    )  # fmt: skip
    shown_of = (environments.c.device, spec, reports.c.outcome, reports.c.refused, reports.c.speedup, reports.c.acceptance, reports.c.analysis)
    finished = (runs.c.state == RunState.SUCCEEDED, shown(analysis), view.of(runs))
    # What was measured on another machine is of another kind: a run on a CPU says nothing of one on a GPU.
    last = (attempts.c.run_id == runs.c.id) & (attempts.c.number == runs.c.attempt)
    of_runs = runs.join(reports, reports.c.run_id == runs.c.id).outerjoin(attempts, last)
    of_runs = of_runs.outerjoin(environments, environments.c.digest == attempts.c.environment)
    ranked = select(runs.c.id.label("run"), *counted, place.label("place"), *shown_of).select_from(of_runs).where(*finished).subquery()
    return list(await connection.execute(select(ranked).where(ranked.c.place == 1).order_by(ranked.c.run.desc()).limit(MOST)))


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
