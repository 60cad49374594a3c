"""How far a campaign is, and how long it will take."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from app.campaigns.schemas import Progress
from app.domain.status import FINAL, RunState
from app.queue.labels import bench_of
from app.reports.words import mark
from app.runs.schemas import RunSummary

WORKING = frozenset({RunState.LEASED, RunState.RUNNING})
NO_RUN = mark("no run of this campaign has been measured to its end yet")
NO_WORD = mark("the run in hand has not said yet how long its trials take")
NOBODY = mark("runs wait and nobody measures any of them")


def progress_of(runs: Sequence[RunSummary]) -> Progress:
    """What is left is reckoned as one runner does it: runs that share a plain arm are measured together, and take as long as those before did."""
    ended = sum(run.state in FINAL for run in runs)
    counts = {state.value: n for state in RunState if (n := sum(run.state == state for run in runs))}
    if ended == len(runs):
        return Progress(ended=ended, total=len(runs), counts=counts)
    at_work = [run for run in runs if run.state in WORKING]
    told = [run.progress.remaining for run in at_work if run.progress and run.progress.remaining is not None]
    benches = {bench_of(run.spec) for run in runs if run.state == RunState.QUEUED} - {bench_of(run.spec) for run in at_work}
    if at_work and not told:
        return Progress(ended=ended, total=len(runs), counts=counts, unknown=NO_WORD)
    each = _mean(_seconds(runs))
    if benches and each is None:
        return Progress(ended=ended, total=len(runs), counts=counts, unknown=NO_RUN if at_work else NOBODY)
    return Progress(ended=ended, total=len(runs), counts=counts, remaining=max(told, default=0.0) + len(benches) * (each or 0.0))


def _seconds(runs: Iterable[RunSummary]) -> list[float]:
    """What each bench that was measured took, once."""
    found: dict[str, float] = {}
    for run in runs:
        if run.state == RunState.SUCCEEDED and run.started_at and run.finished_at:
            found[bench_of(run.spec)] = max(found.get(bench_of(run.spec), 0.0), _between(run.started_at, run.finished_at))
    return list(found.values())


def _between(start: datetime, end: datetime) -> float:
    return (end - start).total_seconds()


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
