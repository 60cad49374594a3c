"""Acceptance along the output draws the report's own cells, in the order of the output."""

import json
from typing import Any

import pytest

from app.domain.estimate import Figure
from app.reports.build import build
from app.reports.figures import along
from app.reports.report import Report
from tests import factories


def made(run: int = 1, language: str = "ru", *, prompts: int = 12, **over: Any) -> Report:
    return build(factories.record(run=run, spec=factories.run_spec(language=language), prompts=prompts, passes=2, tokens=160, **over))


@pytest.fixture(scope="module")
def report() -> Report:
    return made()


def test_each_bucket_is_drawn_once_at_its_place_with_its_interval(report: Report) -> None:
    """Catches buckets sorted as text (`129–160` before `33–64`), and a plot that rounds or recomputes."""
    own = {cell.part["output"]: cell for cell in report.cells if cell.id == along.ID and isinstance(cell, Figure)}
    plot = along.build([report], "en")
    assert plot.figure is not None
    (trace,) = plot.figure["data"]
    assert [row[0] for row in plot.table.rows] == ["1–32", "33–64", "65–96", "97–128", "129–160"]
    assert list(trace["x"]) == [1, 2, 3, 4, 5]
    for i, (name, *_) in enumerate(plot.table.rows):
        pooled = own[str(name)].pooled
        assert pooled.low is not None
        assert trace["y"][i] == pooled.point
        assert trace["y"][i] - trace["error_y"]["arrayminus"][i] == pytest.approx(pooled.low)
    assert trace["marker"]["symbol"] == ["circle"] * 5
    assert plot.figure["layout"]["xaxis"]["ticktext"][0] == "1–32<br>12"
    json.dumps(plot.figure, allow_nan=False)


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_without_an_interval_a_dot_is_hollow(locale: str) -> None:
    """Catches a few prompts drawn as firmly as many."""
    plot = along.build([made(prompts=4)], locale)
    assert plot.figure is not None
    assert set(plot.figure["data"][0]["marker"]["symbol"]) == {"circle-open"}
    assert plot.finding


def test_a_refused_run_shows_nothing(report: Report) -> None:
    """Catches a back door to refused acceptance, and a run that vanishes without a word beside another."""
    refused = made(2, "en", degenerate=True, repeated_share=0.83)
    alone = along.build([refused], "en")
    assert alone.figure is None
    assert alone.empty
    both = along.build([report, refused], "en")
    assert both.figure is not None
    assert len(both.figure["data"]) == 1
    assert "⊘" in both.caption
    assert all("%" not in getattr(row[2], "value", "") for row in both.table.rows)


def test_rounds_without_a_place_say_why() -> None:
    """Catches an empty picture, or places guessed, for facts from a runner that did not tell which steps were rounds."""
    record = factories.record(prompts=12, passes=2)
    old = record.model_copy(update={"requests": tuple(fact.model_copy(update={"round_step": None}) for fact in record.requests)})
    plot = along.build([build(old)], "en")
    assert plot.figure is None
    assert "which steps were rounds" in plot.empty


def test_two_runs_are_told_apart_by_name(report: Report) -> None:
    plot = along.build([report, made(2, "en")], "en")
    assert plot.figure is not None
    assert [trace["marker"]["color"] for trace in plot.figure["data"]] == ["#2b7fd0", "#c26a0c"]
    assert {note["text"] for note in plot.figure["layout"]["annotations"]} == {"ru", "en"}
