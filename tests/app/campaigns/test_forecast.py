"""How far a campaign is."""

from datetime import UTC, datetime, timedelta
from typing import Any

from app.campaigns.forecast import NO_RUN, NO_WORD, NOBODY, progress_of
from app.domain.facts import ProgressFact
from app.domain.status import RunState
from app.runs.schemas import RunSummary
from tests import factories

START = datetime(2026, 11, 30, tzinfo=UTC)


def run(id: int, state: RunState, *, took: float | None = None, remaining: float | None = None, **spec: Any) -> RunSummary:
    return RunSummary(
        id=id, state=state, spec=factories.run_spec(**spec), created_at=START, attempt=1, started_at=None if took is None else START,
        finished_at=None if took is None else START + timedelta(seconds=took),
        progress=None if remaining is None else ProgressFact(stage="trial", done=1, total=2, remaining=remaining),
    )  # fmt: skip


def test_a_bench_is_counted_once() -> None:
    """Catches a forecast that multiplies by the drafters of one plain arm, which are measured together."""
    runs = [
        run(1, RunState.SUCCEEDED, took=60, drafter="ngram"),
        run(2, RunState.SUCCEEDED, took=60, drafter="layerskip"),
        run(3, RunState.RUNNING, remaining=20, language="en", drafter="ngram"),
        run(4, RunState.RUNNING, remaining=20, language="en", drafter="layerskip"),
        run(5, RunState.QUEUED, load={"concurrency": 4}, drafter="ngram"),
        run(6, RunState.QUEUED, load={"concurrency": 4}, drafter="layerskip"),
    ]
    found = progress_of(runs)
    assert (found.ended, found.total, found.remaining, found.unknown) == (2, 6, 80, None)
    assert found.counts == {"queued": 2, "running": 2, "succeeded": 2}


def test_nothing_is_forecast_from_nothing() -> None:
    """Catches 0 s for a campaign of which nobody knows how long it takes."""
    waiting = run(2, RunState.QUEUED, language="en")
    assert progress_of([run(1, RunState.QUEUED), waiting]).unknown == NOBODY
    assert progress_of([run(1, RunState.RUNNING), waiting]).unknown == NO_WORD
    assert progress_of([run(1, RunState.RUNNING, remaining=5), waiting]).unknown == NO_RUN
    assert progress_of([run(1, RunState.FAILED, took=5), waiting]).remaining is None


def test_what_has_ended_has_nothing_left() -> None:
    ended = progress_of([run(1, RunState.SUCCEEDED, took=5), run(2, RunState.CANCELLED, took=9)])
    assert (ended.ended, ended.total, ended.remaining, ended.unknown) == (2, 2, None, None)
