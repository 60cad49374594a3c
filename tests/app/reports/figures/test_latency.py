"""Latencies are drawn as the curves and quantiles that the report holds."""

import json

import numpy as np
import pytest

from app.domain.estimate import Figure
from app.reports.build import build
from app.reports.compare import compare
from app.reports.figures import latency
from app.reports.figures._times import time_axis
from app.reports.latencies import MOST_STEPS
from app.reports.report import Report
from tests.factories import record, run_spec
from tests.factories_load import load_record


@pytest.fixture(scope="module")
def report() -> Report:
    return build(load_record(prompts=24))


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_every_quantile_of_both_arms_is_there_once(report: Report, locale: str) -> None:
    """Catches an arm drawn twice, and a quantile that so few requests cannot show."""
    plot = latency.build([report], locale)
    assert plot.figure is not None
    own = [c for c in report.cells if c.id == "request_latency" and isinstance(c, Figure)]
    drawn = [trace["x"][0] for trace in plot.figure["data"] if trace["xaxis"] == "x" and trace["mode"] == "markers"]
    assert sorted(drawn) == sorted(c.pooled.point for c in own)
    assert len(plot.table.rows) == 6
    assert plot.finding
    json.dumps(plot.figure, allow_nan=False)


def test_curves_are_the_share_of_requests_done_by_a_time() -> None:
    """Catches a curve of other requests than its quantiles, one that does not begin at none and end at all, and arms told apart by nothing."""
    found = record(prompts=12, passes=2)
    report = build(found)
    plot = latency.build([report], "en")
    assert plot.figure is not None
    lines = [trace for trace in plot.figure["data"] if trace["mode"] == "lines" and trace["xaxis"] == "x"]
    assert {trace["line"]["dash"] for trace in lines} == {"dash", "solid"}
    assert {trace["line"]["shape"] for trace in lines} == {"hv"}
    for trace, arm in zip(lines, ("plain", "speculative"), strict=True):
        took = sorted(f.last_at - f.sent_at for f in found.requests if f.arm == arm and f.purpose == "headline")
        assert trace["x"][1:] == pytest.approx(took)
        assert trace["y"] == pytest.approx([i / len(took) for i in range(len(took) + 1)])
        cell = report.find("request_latency", arm=arm, quantile="p50")
        assert isinstance(cell, Figure)
        assert cell.pooled.point == pytest.approx(np.quantile(took, 0.5))


def test_many_requests_are_no_more_steps_than_a_page_bears() -> None:
    """Catches a page of a megabyte a plot, and a curve that loses its ends on the way."""
    found = load_record(prompts=120)
    report = build(found)
    curve = next(c for c in report.latencies if (c.id, c.arm) == ("request_latency", "plain"))
    took = [f.last_at - f.sent_at for f in found.requests if f.arm == "plain" and f.purpose == "headline"]
    assert curve.n == len(took) > MOST_STEPS == len(curve.seconds)
    assert (curve.seconds[0], curve.seconds[-1]) == pytest.approx((min(took), max(took)))
    assert (curve.shares[0], curve.shares[-1]) == (1 / curve.n, 1.0)


def test_runs_of_one_language_have_panels_of_their_own(report: Report) -> None:
    """Catches two curves of one colour and dash in one panel, which nobody can tell apart."""
    english = compare([record(run=1, spec=run_spec(language="ru")), record(run=2, spec=run_spec(language="en"))]).reports
    assert english[0].spec.language != english[1].spec.language
    for reports, panels in ((english, 3), ((report, report), 6)):
        plot = latency.build(reports, "en")
        assert plot.figure is not None
        assert len(plot.figure["layout"]["annotations"]) == panels


@pytest.mark.parametrize("seconds", [[0.011, 0.012], [0.2, 0.9], [1.01, 1.02], [0.5, 80.0], [0.0, 3.0], [0.0, 0.0], [2.0, 2.0]])
def test_an_axis_of_times_has_a_few_round_ticks(seconds: list[float]) -> None:
    """Catches an axis without a number, and one whose numbers run into each other on a phone."""
    axis = time_axis(seconds, "en")
    assert 2 <= len(axis["tickvals"]) <= 5
    assert len(set(axis["ticktext"])) == len(axis["tickvals"])


def test_waiting_has_a_column_only_where_requests_wait(report: Report) -> None:
    """Catches a column of zeros, or of "not measured", in a load in which nobody waits."""
    assert latency.build([report], "en").table.columns == ("Arm", "whole request", "time to first token", "time per output token")


def test_a_refused_run_shows_no_time_that_its_answers_flatter() -> None:
    """The first token comes from the prefill, before there is an answer to refuse."""
    plot = latency.build([build(record(degenerate=True))], "en")
    assert plot.figure is not None
    assert [title["text"] for title in plot.figure["layout"]["annotations"]] == ["time to first token"]
