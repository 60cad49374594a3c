"""The points of a picture as a file."""

import csv
import io

import pytest

from app.domain.estimate import Figure
from app.reports.build import build
from app.reports.figures import forest
from app.reports.figures._points import points_csv
from app.reports.figures.base import dot, draw, scatter
from tests.factories import record


def test_points_have_full_precision_and_their_words() -> None:
    """Catches digits that were rounded for people, an interval that is lost, and a band's edge that passes for a point."""
    report = build(record(prompts=24))
    plot = forest.build([report], "ru")
    cell = report.find(report.headline)
    assert plot.figure is not None
    assert isinstance(cell, Figure)
    row = next(csv.DictReader(io.StringIO(points_csv(plot.figure))))
    assert [float(row[name]) for name in ("x", "x_low", "x_high")] == pytest.approx([cell.pooled.point, cell.pooled.low, cell.pooled.high])
    assert (row["y_low"], row["y_high"]) == ("", "")
    assert "ru · ngram" in row["what"]


def test_text_of_others_is_text() -> None:
    """Catches a name that a spreadsheet would run, and one that arrives as HTML."""
    traces = [dot(1.0, 0, None, None, colour="#000", symbol="circle", hover="=1&lt;2<br>next"), scatter(x=[5], y=[5], mode="lines", hoverinfo="skip")]
    (row,) = csv.DictReader(io.StringIO(points_csv(draw(traces, {}, "en"))))
    assert (row["what"], row["x"], row["x_low"]) == ("'=1<2, next", "1.0", "")
