"""Draft length over time draws what was counted, and shows nothing that is refused or not measured yet."""

import json
from itertools import pairwise
from typing import Any

import pytest

from app.domain.status import RunState
from app.reports.build import build
from app.reports.figures import lengths
from app.reports.record import RunRecord
from app.reports.report import Report
from tests import factories


def record(**over: Any) -> RunRecord:
    return factories.record(prompts=12, passes=2, **over)


@pytest.fixture(scope="module")
def report() -> Report:
    return build(record())


def test_rows_are_means_over_the_requests_that_still_ran(report: Report) -> None:
    """Catches a mean over all requests, where those that ended count as drafts of 0, and rounds of repeats counted twice."""
    counted = [f for f in record().requests if f.arm == "speculative" and f.trial == 0]
    assert report.lengths[-1].last == max(f.rounds for f in counted)
    for row in report.lengths:
        running = [f for f in counted if f.rounds >= row.first]
        assert row.requests == len(running)
        assert row.drafted == pytest.approx(sum(f.round_drafted[row.first - 1] for f in running) / len(running))
        assert row.kept == pytest.approx(sum(f.round_verified[row.first - 1] for f in running) / len(running))
        assert row.low <= row.high
    # Weighted by requests the rows add up to what the figures are made of.
    assert sum(row.requests * row.kept for row in report.lengths) == pytest.approx(sum(f.verified for f in counted))
    assert sum(row.requests * row.drafted for row in report.lengths) == pytest.approx(sum(f.drafted for f in counted))


def test_long_answers_are_binned_and_nothing_is_lost() -> None:
    """Catches a report of thousands of rows, and rounds that fall out between bins."""
    made = record(tokens=600, acceptance=0.2)
    rows = build(made).lengths
    assert 32 < len(rows) <= 64
    assert rows[0].first == 1
    assert all(after.first == row.last + 1 for row, after in pairwise(rows))
    assert rows[-1].last == max(f.rounds for f in made.requests)


def test_the_plot_draws_the_report_s_rows(report: Report) -> None:
    """Catches a plot that rounds, swaps or recomputes."""
    plot = lengths.build(report, "en")
    assert plot.figure is not None
    low, high, drafted, kept = plot.figure["data"]
    assert list(drafted["y"]) == [row.drafted for row in report.lengths]
    assert list(kept["y"]) == [row.kept for row in report.lengths]
    assert list(low["y"]) == [row.low for row in report.lengths]
    assert list(high["y"]) == [row.high for row in report.lengths]
    assert len(plot.table.rows) == len(report.lengths)
    assert str(report.lengths[0].requests) in plot.figure["layout"]["xaxis"]["ticktext"][0]
    json.dumps(plot.figure, allow_nan=False)


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_it_names_the_controller_and_the_steps_that_it_cannot_show(report: Report, locale: str) -> None:
    """Catches a plot that hides steps without a draft: a controller that mostly asks for none would look as if it drafted all along."""
    plot = lengths.build(report, locale)
    assert report.spec.controller.name in plot.caption
    assert "%" in plot.caption
    assert plot.finding


@pytest.mark.parametrize("why", ["refused", "running", "no passport"])
def test_what_may_not_be_shown_is_not_shown(why: str) -> None:
    """Catches a back door to refused acceptance: drafted and kept side by side."""
    made = (
        record(degenerate=True, repeated_share=0.83)
        if why == "refused"
        else record(state=RunState.RUNNING if why == "running" else RunState.SUCCEEDED)
    )
    found = build(made.model_copy(update={"preflight": None}) if why == "no passport" else made)
    assert found.lengths == ()
    plot = lengths.build(found, "en")
    assert plot.figure is None
    assert plot.empty
    assert plot.table.rows == ()


def test_a_run_that_drafted_nothing_says_so() -> None:
    made = record()
    none = {"drafted": 0, "verified": 0, "accepted": 0, "rounds": 0, "round_drafted": (), "round_verified": (), "round_depth": (), "round_slots": ()}
    requests = [
        f.model_copy(
            update=none | {"undrafted": f.emitted - 1, "step_tokens": (1,) * f.emitted, "step_end": tuple(f.first_at for _ in range(f.emitted))}
        )
        if f.arm == "speculative"
        else f
        for f in made.requests
    ]
    plot = lengths.build(build(made.model_copy(update={"requests": tuple(requests)})), "en")
    assert plot.empty == "No draft was made."
