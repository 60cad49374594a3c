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
    plot = lengths.build([report], "en")
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
    plot = lengths.build([report], locale)
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
    plot = lengths.build([found], "en")
    assert plot.figure is None
    assert plot.empty
    assert plot.table.rows == ()


def test_a_run_that_drafted_nothing_says_so() -> None:
    made = record()
    none = {"drafted": 0, "verified": 0, "accepted": 0, "rounds": 0} | dict.fromkeys(
        ("round_drafted", "round_verified", "round_depth", "round_slots", "round_step"), ()
    )
    requests = [
        f.model_copy(
            update=none | {"undrafted": f.emitted - 1, "step_tokens": (1,) * f.emitted, "step_end": tuple(f.first_at for _ in range(f.emitted))}
        )
        if f.arm == "speculative"
        else f
        for f in made.requests
    ]
    plot = lengths.build([build(made.model_copy(update={"requests": tuple(requests)}))], "en")
    assert plot.empty == "No draft was made."


def named(run: int, controller: str, **over: Any) -> Report:
    spec = factories.run_spec(language="ru", controller={"name": controller, "params": {}})
    return build(record(run=run, spec=spec, **over))


def test_runs_that_differ_in_controller_are_told_apart() -> None:
    """Catches two lines with one name, one dash or one row in the table: comparing controllers is what the plot is for."""
    reports = [named(1, "constant"), named(2, "window", draft=6)]
    plot = lengths.build(reports, "en")
    assert plot.figure is not None
    lines = [trace for trace in plot.figure["data"] if trace["mode"] == "lines"]
    assert [list(line["y"]) for line in lines] == [[row.drafted for row in report.lengths] for report in reports]
    assert len({line["line"]["dash"] for line in lines}) == 2
    labels = [note["text"] for note in plot.figure["layout"]["annotations"]]
    assert any("constant" in text for text in labels)
    assert any("window" in text for text in labels)
    assert len({row[0] for row in plot.table.rows}) == sum(len(report.lengths) for report in reports)
    assert "constant" in plot.caption
    assert "window" in plot.caption


def test_a_refused_run_beside_another_keeps_its_place_and_shows_nothing() -> None:
    """Catches a refused run that vanishes without a word, or whose line is drawn because another's is."""
    reports = [named(1, "constant"), named(2, "window", degenerate=True, repeated_share=0.83)]
    plot = lengths.build(reports, "en")
    assert plot.figure is not None
    assert sum(trace["mode"] == "lines" for trace in plot.figure["data"]) == 1
    assert "⊘" in plot.caption
    assert len(plot.table.rows) == len(reports[0].lengths)
