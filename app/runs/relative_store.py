"""All SQL about runs beside other runs: those that differ in language alone, and what runs of a model took."""

from typing import Any

from sqlalchemy import false, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.status import RunState
from app.storage.fact_tables import preflights, reports, trials
from app.storage.kept import shown
from app.storage.tables import attempts, runners, runs
from app.storage.view import View

# Of each, the newest.
MOST = 60
ALIVE = (RunState.QUEUED, RunState.LEASED, RunState.RUNNING, RunState.SUCCEEDED)


async def passport(connection: AsyncConnection, view: View, run: int, analysis: str) -> Any | None:
    """The passport in a run's kept report."""
    query = select(reports.c.report["passport"]).select_from(reports.join(runs, runs.c.id == reports.c.run_id))
    return await connection.scalar(query.where(runs.c.id == run, shown(analysis), view.of(runs)))


async def in_other_languages(connection: AsyncConnection, view: View, run: int, analysis: str) -> list[Any]:
    """(id, state, language, passport, sibling) of runs that were asked for the same in another language: those of the same campaign, its siblings,
    and then the newest; without a passport until they have a report."""
    own = runs.alias("own")
    named = ("model", "suite", "drafter", "tokenizer")
    same = [runs.c[name] == own.c[name] for name in named]
    same.append(runs.c.spec.op("-")(literal("language")) == own.c.spec.op("-")(literal("language")))
    kept = reports.c.report["passport"].label("passport")
    joined = runs.join(own, own.c.id == run).outerjoin(reports, (reports.c.run_id == runs.c.id) & shown(analysis))
    sibling = func.coalesce(runs.c.campaign_id == own.c.campaign_id, false()).label("sibling")
    query = select(runs.c.id, runs.c.state, runs.c.language, kept, sibling).select_from(joined)
    mine = (runs.c.language != own.c.language, runs.c.state.in_(ALIVE), view.of(runs), *same)
    return list(await connection.execute(query.where(*mine).order_by(sibling.desc(), runs.c.id.desc()).limit(MOST)))


async def took(connection: AsyncConnection, view: View, models: list[str]) -> list[Any]:
    """(id, campaign_id, attempt, spec, runner, started_at, ended_at, profiles) of succeeded runs of these models, newest first; `profiles` counts
    prompts."""
    columns = (
        runs.c.id, runs.c.campaign_id, attempts.c.id.label("attempt"), runs.c.spec, runners.c.name.label("runner"), attempts.c.started_at,
        attempts.c.ended_at, preflights.c.fact["profiles"].label("profiles"),
    )  # fmt: skip
    of_attempt = attempts.join(preflights, preflights.c.attempt_id == attempts.c.id).join(runners, runners.c.id == attempts.c.runner_id)
    joined = runs.join(of_attempt, (attempts.c.run_id == runs.c.id) & (attempts.c.number == runs.c.attempt))
    done = (runs.c.state == RunState.SUCCEEDED, runs.c.model.in_(models), attempts.c.started_at.is_not(None), view.of(runs))
    return list(await connection.execute(select(*columns).select_from(joined).where(*done).order_by(runs.c.id.desc()).limit(MOST)))


async def passes(connection: AsyncConnection, of: list[int]) -> list[Any]:
    """(attempt_id, purpose, arm, seconds, number) of the passes of these attempts."""
    by = (trials.c.attempt_id, trials.c.purpose, trials.c.arm)
    query = select(*by, func.sum(trials.c.seconds).label("seconds"), func.count().label("number")).where(trials.c.attempt_id.in_(of))
    return list(await connection.execute(query.group_by(*by)))
