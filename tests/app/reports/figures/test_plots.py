"""Plots draw what the report says and decide nothing."""

import json
import math
from typing import Any

import pytest

from app.domain.estimate import Figure
from app.reports.build import build
from app.reports.compare import compare
from app.reports.figures import along, economics, fertility, forest, lengths, positions, profiles, throughput, trials
from app.reports.figures.base import Plot, ratio_axis, zero_axis
from app.reports.report import Comparison, Report
from app.reports.shown import Shown, find
from tests import factories
from tests.factories_load import load_record


def run(number: int, language: str, **over: Any) -> Any:
    return factories.record(run=number, spec=factories.run_spec(language=language), **({"prompts": 24, "passes": 6} | over))


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return compare([run(1, "ru", acceptance=0.35), run(2, "en", acceptance=0.75)])


@pytest.fixture(scope="module")
def refused() -> Report:
    return build(run(3, "ru", degenerate=True, repeated_share=0.83))


def every(reports: tuple[Report, ...], comparison: Comparison | None, locale: str) -> list[Plot]:
    contrasts = comparison.contrasts if comparison else ()
    return [
        forest.build(reports, locale),
        positions.build(reports, locale),
        profiles.build(reports, locale, contrasts),
        fertility.build(reports, locale, contrasts),
        throughput.build(reports, locale),
        trials.build(reports[0], locale),
    ]


def marks(plot: Plot) -> list[dict[str, Any]]:
    assert plot.figure is not None
    found: list[dict[str, Any]] = plot.figure["data"]
    return found


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_every_plot_has_words_and_a_table(compared: Comparison, locale: str) -> None:
    """Catches a picture that a screen reader or a reader without JavaScript gets nothing from."""
    for plot in every(compared.reports, compared, locale):
        assert plot.finding
        assert plot.question
        assert plot.table.rows
        assert plot.figure is not None
        json.dumps(plot.figure, allow_nan=False)


def test_the_forest_draws_the_report_s_own_numbers(compared: Comparison) -> None:
    """Catches a plot that rounds, swaps or recomputes: mark and interval are those of the cell."""
    drawn = marks(forest.build(compared.reports, "en"))
    for report, trace in zip(compared.reports, drawn, strict=False):
        cell = report.find(report.headline)
        assert cell is not None
        pooled = cell.pooled  # type: ignore[union-attr]
        assert trace["x"][0] == pooled.point
        assert trace["x"][0] + trace["error_x"]["array"][0] == pytest.approx(pooled.high)
        assert trace["x"][0] - trace["error_x"]["arrayminus"][0] == pytest.approx(pooled.low)


def test_languages_keep_their_colour_and_shape(compared: Comparison) -> None:
    """Catches ru and en told apart by hue alone, or swapped."""
    russian, english = marks(forest.build(compared.reports, "en"))[:2]
    assert (russian["marker"]["color"], russian["marker"]["symbol"]) == ("#2b7fd0", "circle")
    assert (english["marker"]["color"], english["marker"]["symbol"]) == ("#c26a0c", "square")


def test_a_mark_is_hollow_exactly_when_the_table_cannot_tell() -> None:
    """Catches a plot and a table that disagree on what is decided."""
    few = build(run(4, "ru", prompts=6, passes=2))
    plot = forest.build([few], "en")
    assert marks(plot)[0]["marker"]["symbol"] == "circle-open"
    assert isinstance(plot.table.rows[0][1], Shown)
    assert plot.table.rows[0][1].state == "cannot tell"


def test_a_refused_row_keeps_its_place(compared: Comparison, refused: Report) -> None:
    """Catches a refused run that vanishes from the plot, or stretches its axis."""
    both = (compared.reports[0], refused)
    plot = forest.build(both, "en")
    assert plot.figure is not None
    assert [text for text in plot.figure["layout"]["yaxis"]["ticktext"] if "control" not in text] == ["ru · #1", "ru · #3"]
    assert any("refused" in note["text"] for note in plot.figure["layout"]["annotations"])
    assert [mark["hovertext"][0] for mark in marks(plot) if mark["hovertext"] != ["control against plain"]] == [marks(plot)[0]["hovertext"][0]]
    for other in (positions.build(both, "en"), profiles.build(both, "en"), throughput.build(both, "en")):
        assert "⊘" in other.caption


def test_a_plot_without_a_number_says_why(refused: Report) -> None:
    """Catches an empty frame."""
    for plot in (forest.build([refused], "en"), positions.build([refused], "en"), profiles.build([refused], "en")):
        assert plot.figure is None
        assert "repeat" in plot.empty


def test_lines_take_values_and_labels_take_logarithms(compared: Comparison) -> None:
    """Catches a label far away from its mark: on a log axis plotly's annotations want log10 of the value, its shapes the value."""
    plot = forest.build(compared.reports, "en")
    assert plot.figure is not None
    first = marks(plot)[0]["x"][0]
    placed = [note["x"] for note in plot.figure["layout"]["annotations"]]
    assert any(math.isclose(x, math.log10(first)) for x in placed)
    assert plot.figure["layout"]["shapes"][0]["x0"] == 1.0


def test_three_definitions_give_three_curves(compared: Comparison) -> None:
    """Catches a toggle that changes the words and not the numbers, or the numbers and not the words."""
    plots = [positions.build(compared.reports, "en", definition) for definition in ("at", "all", "given")]
    assert len({plot.question for plot in plots}) == 3
    assert len({json.dumps([trace["y"] for trace in marks(plot)]) for plot in plots}) == 3
    assert positions.build(compared.reports, "en", "<script>").question == plots[0].question


def test_two_drafters_in_one_language_have_a_row_each() -> None:
    """Catches two series of the same colour and shape on one row, which nobody can tell apart."""
    specs = [factories.run_spec(language="ru", drafter={"name": name, "params": {}}) for name in ("ngram", "layerskip")]
    reports = [build(factories.record(run=i, spec=spec, prompts=24, passes=6)) for i, spec in enumerate(specs, start=1)]
    plot = profiles.build(reports, "en")
    assert plot.figure is not None
    assert len(plot.figure["layout"]["yaxis"]["ticktext"]) == 2 * len(factories.PROFILES)
    assert len({trace["y"][0] for trace in marks(plot)}) == 2 * len(factories.PROFILES)


def test_the_paired_difference_has_its_own_interval(compared: Comparison) -> None:
    """Catches two intervals side by side with nothing said about the difference."""
    plot = profiles.build(compared.reports, "en", compared.contrasts)
    diamonds = [trace for trace in marks(plot) if trace["marker"]["symbol"].startswith("diamond")]
    assert len(diamonds) == len(factories.PROFILES)
    assert plot.table.columns[-1] == "Difference"


def test_text_from_outside_cannot_be_markup_in_a_plot() -> None:
    """Catches plotly's own HTML in labels: a profile's name is text."""
    record = run(5, "ru", prompts=8, profile='<a href="https://example.org">x</a>')
    assert "<a" not in json.dumps(profiles.build([build(record)], "en").figure)


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_names_of_axes_fit_on_a_phone(compared: Comparison, locale: str) -> None:
    """Catches the name of an axis that is cut at the edge of the picture."""
    alone = compared.reports[0]
    plots = [*every(compared.reports, compared, locale), lengths.build([alone], locale), along.build([alone], locale), economics.build(alone, locale)]
    axes = [axis for plot in plots if plot.figure for name, axis in plot.figure["layout"].items() if "xaxis" in name]
    names = [axis["title"]["text"] for axis in axes if "title" in axis]
    assert names
    assert [name for name in names if len(name) > 40] == []


def test_neither_arm_of_a_plot_without_intervals_looks_decided(compared: Comparison) -> None:
    """Catches a plain mark that is full beside a hollow one, though neither has an interval."""
    drawn = marks(throughput.build([compared.reports[0]], "en"))
    assert {trace["marker"]["symbol"] for trace in drawn} == {"line-ew-open", "circle-open"}
    assert {trace["marker"]["line"]["width"] for trace in drawn} == {2.5}


def test_a_name_of_a_row_keeps_off_a_mark_at_zero(compared: Comparison) -> None:
    """Catches a label that a mark at the start of its axis is drawn over."""
    plot = profiles.build([compared.reports[0]], "en")
    assert plot.figure is not None
    assert plot.figure["layout"]["yaxis"]["ticklabelstandoff"] >= 8


def test_ticks_are_never_rounded_to_another_number() -> None:
    """Catches a tick at 2.5 s that is labelled "2 s"."""
    axis = zero_axis("seconds", 9.7, "en", named=True)
    assert axis["tickvals"] == [0, 5]
    assert axis["ticktext"] == ["0\u00a0s", "5\u00a0s"]
    assert zero_axis("tokens", 0.31, "ru")["ticktext"] == ["0,0", "0,1", "0,2", "0,3"]


def test_a_ratio_axis_is_even_around_one() -> None:
    """Catches an axis on which a loss looks smaller than a gain of the same size."""
    low, high = ratio_axis([0.5, 1.2, None], "en")["range"]
    assert low == -high
    assert 10**low < 0.5


def test_a_headline_that_is_missing_says_so(compared: Comparison) -> None:
    """Catches a row that reads as an absent verdict without a reason."""
    bare = compared.reports[0].model_copy(update={"cells": ()})
    assert find(bare, bare.headline, "en").why
    assert forest.build([bare], "en").empty


def test_a_quiet_pass_in_a_disturbed_block_is_not_used() -> None:
    """Catches a table that says a time was used which no figure used."""
    record = run(6, "ru", prompts=8, passes=4)
    disturbed = [t.model_copy(update={"contended": t.trial == 0 and t.arm == "plain"}) for t in record.trials]
    plot = trials.build(build(record.model_copy(update={"trials": tuple(disturbed)})), "en")
    used = {(row[0], row[1]): row[-1] for row in plot.table.rows}
    assert used[("1", "plain")] == "no, disturbed"
    assert used[("2", "speculative")] == "no, its block was disturbed"
    assert used[("3", "plain")] == "yes"
    drawn = {symbol for trace in marks(plot) for symbol in trace["marker"]["symbol"]}
    assert {"x-thin", "circle-open", "circle", "square"} <= drawn


def test_a_refused_ratio_is_not_drawn_as_two_lines() -> None:
    """Catches a back door to a refused speed-up: both arms' seconds side by side."""
    record = run(6, "ru", prompts=8, passes=2)
    echoes = [fact.model_copy(update={"answer_language": None, "answer_letters": 5}) for fact in record.requests]
    plot = trials.build(build(record.model_copy(update={"requests": tuple(echoes)})), "en")
    assert {row[1] for row in plot.table.rows} == {"plain", "control"}
    assert "its ratio to plain is refused" in plot.caption


def test_speed_ups_of_different_kinds_are_named(compared: Comparison) -> None:
    """Catches decoding and end to end side by side as if they were one quantity."""
    other = compared.reports[1].model_copy(update={"headline": "speedup_decode"})
    plot = forest.build([compared.reports[0], other], "en")
    assert [str(row[0]) for row in plot.table.rows if "against plain" not in str(row[0])] == ["ru · end to end", "en · decoding"]
    assert plot.caption.startswith("Each run's own headline speed-up")


def test_a_run_under_load_is_drawn_by_its_trial_pairs() -> None:
    """Catches a forest that says prompts where trials were counted, and one that leaves the load's headline out."""
    report = build(load_record(acceptance=0.9))
    plot = forest.build([report], "en")
    cell = report.find("speedup_throughput")
    assert isinstance(cell, Figure)
    assert marks(plot)[0]["x"] == [cell.pooled.point]
    assert "6\u00a0trial\u00a0pairs" in plot.finding
    assert plot.caption.startswith("Speed-up of throughput")
    assert any("3\u00a0blocks" in shown.n for row in plot.table.rows for shown in row if isinstance(shown, Shown))
    every_trial = trials.build(report, "ru")
    assert len(every_trial.table.rows) == 12
    assert throughput.build([report], "en").figure is not None


def test_runs_of_two_loads_share_a_forest_under_their_names(compared: Comparison) -> None:
    plot = forest.build([compared.reports[0], build(load_record(run=9))], "en")
    assert [str(row[0]) for row in plot.table.rows if "noise" not in str(row[0])][1].endswith("throughput")
