"""Latencies are drawn as the quantiles that the report holds."""

import json

import pytest

from app.domain.estimate import Figure
from app.reports.build import build
from app.reports.figures import latency
from app.reports.report import Report
from tests.factories import record
from tests.factories_load import load_record


@pytest.fixture(scope="module")
def report() -> Report:
    return build(load_record(prompts=24))


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_every_quantile_of_both_arms_is_there_once(report: Report, locale: str) -> None:
    """Catches an arm drawn twice or in the other one's colour, and a quantile that so few requests cannot show."""
    plot = latency.build([report], locale)
    assert plot.figure is not None
    own = [c for c in report.cells if c.id == "request_latency" and isinstance(c, Figure)]
    drawn = [trace["x"][0] for trace in plot.figure["data"] if trace["xaxis"] == "x"]
    assert sorted(drawn) == sorted(c.pooled.point for c in own)
    assert len(plot.table.rows) == 6
    assert plot.finding
    json.dumps(plot.figure, allow_nan=False)


def test_waiting_has_a_column_only_where_requests_wait(report: Report) -> None:
    """Catches a column of zeros, or of "not measured", in a load in which nobody waits."""
    assert latency.build([report], "en").table.columns == ("Arm", "whole request", "time to first token", "time per output token")


def test_a_refused_run_shows_no_time_that_its_answers_flatter() -> None:
    """The first token comes from the prefill, before there is an answer to refuse."""
    plot = latency.build([build(record(degenerate=True))], "en")
    assert plot.figure is not None
    assert [title["text"] for title in plot.figure["layout"]["annotations"]] == ["time to first token"]
