"""All SQL that reads facts back, and that keeps reports beside them."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, func, select
from sqlalchemy.dialects.postgresql import distinct_on, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.estimate import Cell, Figure, Refusal
from app.domain.facts import EnvironmentFact, FinishFact, PreflightFact, RequestFact, TrialFact, WarmupFact
from app.domain.observations import CostFact, DivergenceFact, LearnedFact
from app.domain.spec import RunSpec
from app.domain.status import FINAL, RunState
from app.domain.withheld import muted, withhold
from app.reports.kept import Kept, Measured
from app.reports.record import Kin, RunRecord
from app.reports.report import Report
from app.reports.stored import cell_of, report_of
from app.runs import request_rows
from app.runs.analysis import earlier
from app.runs.schemas import FigureOut
from app.storage.fact_tables import figures, observations, preflights, reports, requests, trials
from app.storage.kept import gone, shown
from app.storage.privacy import private
from app.storage.retention_tables import forgotten
from app.storage.tables import attempts, environments, runs
from app.storage.view import View


async def record(connection: AsyncConnection, beside: AsyncConnection, view: View, run: int, *, whole: bool = False) -> RunRecord | None:
    """What was asked and seen; of the latest attempt alone, which is the finishing one once the run has ended. A `whole` record holds the answers,
    and every fact is checked anew; else it holds what a report is made of."""
    asked = (
        await connection.execute(select(runs.c.id, runs.c.state, runs.c.spec, private().label("private")).where(runs.c.id == run, view.of(runs)))
    ).one_or_none()
    if asked is None:
        return None
    joined = attempts.outerjoin(preflights).outerjoin(environments, environments.c.digest == attempts.c.environment)
    seen = select(attempts, preflights.c.fact.label("preflight"), environments.c.fact.label("seen_environment")).select_from(joined)
    attempt = (await connection.execute(seen.where(attempts.c.run_id == run).order_by(attempts.c.number.desc()).limit(1))).one_or_none()
    if attempt is None:
        return RunRecord(run=run, state=RunState(asked.state), spec=RunSpec.model_validate(asked.spec))
    kin = await _kin(connection, run)
    made = await (_whole(connection, attempt.id) if whole else request_rows.read(connection, beside, attempt.id))
    passes = (await connection.execute(select(trials).where(trials.c.attempt_id == attempt.id).order_by(trials.c.id))).all()
    noticed = select(observations.c.kind, observations.c.fact).where(observations.c.attempt_id == attempt.id).order_by(observations.c.id)
    others = (await connection.execute(noticed)).all()
    return _assemble(asked, attempt, made, passes, others, kin)


async def _whole(connection: AsyncConnection, attempt: int) -> Sequence[RequestFact]:
    rows = (await connection.execute(select(requests).where(requests.c.attempt_id == attempt).order_by(requests.c.id))).all()
    return await asyncio.to_thread(lambda: tuple(RequestFact.model_validate(_fact(row)) for row in rows))


def _fact(row: Any) -> dict[str, Any]:
    return {name: value for name, value in row._mapping.items() if name not in {"id", "attempt_id"}}


def _of_campaign(run: int) -> Select[Any]:
    """The other measurements of a run's campaign, each by its newest run, with what is kept of their reports: one that was resumed is tried once."""
    own, what = (select(column).where(runs.c.id == run).scalar_subquery() for column in (runs.c.campaign_id, runs.c.spec_digest))
    joined = runs.outerjoin(reports, reports.c.run_id == runs.c.id)
    columns = (runs.c.id, runs.c.state, runs.c.spec, reports.c.speedup, reports.c.analysis, gone(runs.c.id).label("gone"))
    others = select(*columns).select_from(joined).ext(distinct_on(runs.c.spec_digest))
    return others.where(runs.c.campaign_id == own, runs.c.spec_digest != what).order_by(runs.c.spec_digest, runs.c.id.desc())


async def _kin(connection: AsyncConnection, run: int) -> list[Kin]:
    found = []
    for row in await connection.execute(_of_campaign(run)):
        cell = cell_of(row.speedup) if row.speedup else None
        speedup = cell.pooled if isinstance(cell, Figure) and row.state == RunState.SUCCEEDED else None
        found.append(Kin(run=row.id, speedup=speedup, margin=RunSpec.model_validate(row.spec).margin))
    return found


async def settled_kin(connection: AsyncConnection, run: int, analysis: str) -> list[int]:
    """The other runs of a run's campaign, once all of them have ended and have a report of this analysis; else none.

    The report of one whose facts are gone is its last one."""
    rows = (await connection.execute(_of_campaign(run))).all()
    settled = all(row.state in FINAL and (row.gone or row.analysis == analysis) for row in rows)
    return [row.id for row in rows if not row.gone] if settled else []


def _assemble(asked: Any, attempt: Any, made: Sequence[RequestFact], passes: Sequence[Any], others: Sequence[Any], kin: Sequence[Kin]) -> RunRecord:
    finish = FinishFact.model_validate(attempt.finish) if attempt.finish else None
    return RunRecord(
        run=asked.id,
        state=RunState(asked.state),
        spec=RunSpec.model_validate(asked.spec),
        preflight=PreflightFact.model_validate(attempt.preflight) if attempt.preflight else None,
        environment=EnvironmentFact.model_validate(attempt.seen_environment) if attempt.seen_environment else None,
        warmup=WarmupFact.model_validate(attempt.warmup) if attempt.warmup else None,
        requests=made,
        trials=tuple(TrialFact.model_validate(_fact(row)) for row in passes),
        costs=tuple(CostFact.model_validate(row.fact) for row in others if row.kind == "cost"),
        kin=tuple(kin),
        divergences=tuple(DivergenceFact.model_validate(row.fact) for row in others if row.kind == "divergence"),
        learned=next((LearnedFact.model_validate(row.fact) for row in others if row.kind == "learned"), None),
        finish=withhold(finish) if finish and asked.private else finish,
    )


async def forgotten_at(connection: AsyncConnection, run: int) -> datetime | None:
    """When that was decided; None while they are there."""
    found: datetime | None = await connection.scalar(select(forgotten.c.at).where(forgotten.c.run_id == run))
    return found


async def cached(connection: AsyncConnection, run: int, analysis: str) -> Report | None:
    """The report that is kept: of this analysis, or the last one of a run whose facts are gone. None where this version cannot read it."""
    stored = select(reports.c.report, private().label("private")).join_from(reports, runs).where(reports.c.run_id == run, shown(analysis))
    found = (await connection.execute(stored)).one_or_none()
    return None if found is None else report_of(muted(found.report) if found.private else found.report)


async def measured(connection: AsyncConnection, run: int, analysis: str) -> Measured | None:
    """What is kept of a run for comparisons, if it comes from this analysis. Its kin are read anew."""
    stored = select(reports.c.report, reports.c.kept, private().label("private")).join_from(reports, runs)
    found = (
        await connection.execute(stored.where(reports.c.run_id == run, reports.c.analysis == analysis, reports.c.kept.is_not(None)))
    ).one_or_none()
    if found is None:
        return None
    stored, kept = (muted(part) if found.private else part for part in (found.report, found.kept))
    report = report_of(stored)
    return None if report is None else Measured(report, Kept.model_validate(kept), tuple(await _kin(connection, run)))


async def keep(connection: AsyncConnection, report: Report, kept: Kept, analysis: str, outcome: str | None) -> None:
    """Replaces what is kept of this run's report and of its figures; what is kept of a run whose facts are gone stays."""
    await connection.execute(select(reports.c.run_id).where(reports.c.run_id == report.run).with_for_update())
    if await forgotten_at(connection, report.run) is not None:
        return
    headline, acceptance = report.find(report.headline), report.find(report.acceptance)
    row = {
        "run_id": report.run,
        "analysis": analysis,
        "report": report.model_dump(mode="json"),
        "kept": kept.model_dump(mode="json"),
        "outcome": outcome,
        "refused": outcome is not None and (isinstance(headline, Refusal) or any(gate.refused for gate in report.gates)),
        "speedup": headline.model_dump(mode="json") if headline else None,
        "acceptance": acceptance.model_dump(mode="json") if acceptance else None,
    }
    upsert = insert(reports).values(row)
    await connection.execute(upsert.on_conflict_do_update(index_elements=["run_id"], set_=row | {"built_at": func.now()}))
    await connection.execute(delete(figures).where(figures.c.run_id == report.run))
    rows = [_figure(report.run, place, cell) for place, cell in enumerate(report.cells)]
    if rows:
        await connection.execute(insert(figures), rows)


def _figure(run: int, position: int, cell: Cell) -> dict[str, Any]:
    row: dict[str, Any] = {
        "run_id": run, "position": position, "figure": cell.id, "part": cell.part, "cell": cell.model_dump(mode="json"),
        "kind": "figure" if isinstance(cell, Figure) else "refusal" if isinstance(cell, Refusal) else "absent",
        **dict.fromkeys(("language", "tokenizer", "drafter_tokenizer", "point", "low", "high", "n")),
    }  # fmt: skip
    if isinstance(cell, Figure):
        passport, pooled = cell.passport, cell.pooled
        row |= {"language": passport.language, "tokenizer": passport.tokenizer.fingerprint}
        row |= {"drafter_tokenizer": passport.drafter_tokenizer.fingerprint}
        row |= {"point": pooled.point, "low": pooled.low, "high": pooled.high, "n": pooled.n}
    return row


async def unreported(connection: AsyncConnection, analysis: str, limit: int) -> list[int]:
    """Ended runs without a report of this analysis, newest first."""
    current = select(reports.c.run_id).where(reports.c.analysis == analysis)
    found = select(runs.c.id).where(runs.c.state.in_(FINAL), runs.c.id.not_in(current), ~gone(runs.c.id)).order_by(runs.c.id.desc()).limit(limit)
    return list(await connection.scalars(found))


async def query(
    connection: AsyncConnection, view: View, figure: str, analysis: str, given: Mapping[str, str | None], *, parts: bool, limit: int
) -> list[FigureOut]:
    """One figure over finished runs, newest first; refusals and absences stand where the figure would."""
    joined = figures.join(runs, runs.c.id == figures.c.run_id).join(reports, reports.c.run_id == runs.c.id)
    wanted = [figures.c.figure == figure, shown(analysis), runs.c.state == RunState.SUCCEEDED, view.of(runs)]
    wanted += [] if parts else [figures.c.part == {}]
    wanted += [runs.c[name] == value for name, value in given.items() if value is not None]
    columns = (runs.c.id, runs.c.drafter, runs.c.model, figures.c.cell, reports.c.analysis)
    rows = await connection.execute(select(*columns).select_from(joined).where(*wanted).order_by(runs.c.id.desc(), figures.c.position).limit(limit))
    return [
        FigureOut(run=row.id, drafter=row.drafter, model=row.model, cell=cell_of(row.cell), earlier_analysis=earlier(row.analysis)) for row in rows
    ]
