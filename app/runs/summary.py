"""A run in a list and at the head of its page, and what is said of a part of a figure that it does not have."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from app.domain.estimate import Cell, Figure
from app.domain.facts import ProgressFact
from app.domain.spec import RunSpec
from app.domain.status import RunState, cut
from app.domain.withheld import muted, untold
from app.reports.stored import cell_of
from app.runners_registry.schemas import KnownRunner
from app.runners_registry.service import why_waits
from app.runs.analysis import earlier
from app.runs.schemas import RunSummary


def summary_of(row: Row[Any], known: Sequence[KnownRunner]) -> RunSummary:
    spec = RunSpec.model_validate(row.spec)
    queued = row.state == RunState.QUEUED
    failure = untold(row.failure, row.failure_code) if row.private else row.failure
    speedup, acceptance = (_cell(row, stored) for stored in (row.speedup, row.acceptance))
    return RunSummary(
        id=row.id, state=RunState(row.state), spec=spec, created_at=row.created_at, started_at=row.started_at, finished_at=row.finished_at,
        attempt=row.attempt, runner=row.runner, progress=ProgressFact.model_validate(row.progress) if row.progress else None,
        queue_position=row.queue_position, waiting=why_waits(spec, known) if queued else None, failure=failure,
        failure_code=row.failure_code, retry_makes_sense=row.retry_makes_sense, outcome=row.outcome, refused=bool(row.refused),
        facts_deleted_at=row.facts_deleted_at, earlier_analysis=earlier(row.analysis), speedup=speedup, acceptance=acceptance,
    )  # fmt: skip


def _cell(row: Row[Any], stored: Any) -> Cell | None:
    """What is kept of a run that was cut off before such runs were refused their figures is not shown."""
    if stored is None:
        return None
    found = cell_of(muted(stored) if row.private else stored)
    return None if cut(RunState(row.state)) and isinstance(found, Figure) else found


def no_part(run: int, id: str, part: Mapping[str, str], known: Sequence[Mapping[str, str]]) -> str:
    """'Run 1 has no acceptance_rate of profile "x". It has: the whole run; profile "chat"; profile "code".'"""
    if not known:
        return f"Run {run} has no {id}."
    return f"Run {run} has no {id} of {_part(part)}. It has: {'; '.join(map(_part, known))}."


def _part(part: Mapping[str, str]) -> str:
    return ", ".join(f'{name} "{value}"' for name, value in part.items()) or "the whole run"
