"""Speed-up over load, and the paired difference below acceptance by position: drawn from the report, deciding nothing."""

import pytest

from app.reports.compare import compare
from app.reports.figures import by_load, positions
from app.reports.report import Comparison
from app.reports.shown import Shown
from tests.factories import record
from tests.factories_load import load_record


def over_loads(**over: object) -> Comparison:
    return compare(
        [
            record(run=1, language="ru", prompts=12, acceptance=0.55, **over),
            load_record(run=3, concurrency=4, prompts=16, acceptance=0.55, slow=1.9),
            record(run=2, language="en", prompts=12, acceptance=0.85),
            load_record(run=4, concurrency=4, language="en", prompts=16, acceptance=0.85),
        ]
    )


@pytest.fixture(scope="module")
def found() -> Comparison:
    return over_loads()


def test_a_line_a_series_with_the_reports_own_numbers(found: Comparison) -> None:
    """Catches loads of one language joined with those of another, and a point that is not the report's."""
    plot = by_load.build(found, "en")
    assert plot.figure is not None
    lines = [trace for trace in plot.figure["data"] if "markers" in trace["mode"]]
    by_run = {report.run: report for report in found.reports}
    assert len(lines) == 2
    for series, line in zip(found.series, lines, strict=True):
        points = [by_run[run].find(by_run[run].headline).pooled.point for run in series.runs]  # type: ignore[union-attr]
        assert line["y"] == pytest.approx(points)
        assert line["x"] == pytest.approx([1, 4], rel=0.05)


def test_the_bar_at_one_is_the_break_even_load(found: Comparison) -> None:
    plot = by_load.build(found, "en")
    assert plot.figure is not None
    bars = [trace for trace in plot.figure["data"] if trace["mode"] == "lines"]
    assert [(list(bar["x"]), list(bar["y"])) for bar in bars] == [([1, 4], [1, 1])]
    assert bars[0]["line"]["color"] == "#2b7fd0"


def test_hollow_is_what_cannot_be_told(found: Comparison) -> None:
    plot = by_load.build(found, "en")
    assert plot.figure is not None
    lines = [trace for trace in plot.figure["data"] if "markers" in trace["mode"]]
    shown = {report.run: report.verdict.outcome == "cannot tell" for report in found.reports}
    for series, line in zip(found.series, lines, strict=True):
        assert [symbol.endswith("-open") for symbol in line["marker"]["symbol"]] == [shown[run] for run in series.runs]


def test_a_refused_load_keeps_its_place_in_words() -> None:
    """Catches a refused point that vanishes, so that the line seems to begin later."""
    plot = by_load.build(over_loads(degenerate=True, repeated_share=0.8), "en")
    assert "⊘ Refused" in plot.caption
    row = next(row for row in plot.table.rows if str(row[0]).endswith("#1"))
    assert isinstance(row[3], Shown)
    assert (row[3].state, row[3].value) == ("refused", "")


def test_one_load_has_no_such_plot(found: Comparison) -> None:
    assert by_load.has_loads(found)
    assert not by_load.has_loads(compare([record(run=1, language="ru", prompts=8), record(run=2, language="en", prompts=8)]))


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_it_has_words_and_a_table(found: Comparison, locale: str) -> None:
    plot = by_load.build(found, locale)
    assert plot.finding.count("× [") == 4
    assert len(plot.table.rows) == 4


@pytest.mark.parametrize(("definition", "id"), positions.DEFINITIONS.items())
def test_the_paired_difference_stands_below_the_lines(found: Comparison, definition: str, id: str) -> None:
    """Catches the difference of another definition, and overlapping intervals left to the reader."""
    plot = positions.build(found.reports[:2], "en", definition, found.contrasts)
    assert plot.figure is not None
    below = [trace for trace in plot.figure["data"] if trace.get("yaxis") == "y2"]
    wanted = {int(c.part["position"]): c.estimate.point for c in found.contrasts if c.id == id}
    assert len(below) == 1
    assert dict(zip(below[0]["x"], below[0]["y"], strict=True)) == pytest.approx(wanted)
    assert plot.table.columns[-1] == "Difference"
    alone = positions.build(found.reports[:1], "en", definition)
    assert alone.figure is not None
    assert not [trace for trace in alone.figure["data"] if trace.get("yaxis") == "y2"]
