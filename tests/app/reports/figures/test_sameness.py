"""The strip of answers: where they equal plain's and where they part."""

from typing import Any

import pytest

from app.domain.facts import digest_of
from app.domain.observations import DivergenceFact
from app.reports.build import build
from app.reports.export import to_csv
from app.reports.figures import sameness
from app.reports.report import Report
from app.reports.shown import Shown
from tests import factories


def parted(position: int = 5, *, prompts: tuple[str, ...] = ("ru-01", "ru-03"), judgement: str | None = "tie", kept: bool = True) -> Report:
    """Answers of some prompts part from plain's at an output position, in every pass alike."""
    found = factories.record(prompts=8, passes=4)
    requests = []
    for fact in found.requests:
        if fact.arm == "speculative" and fact.prompt in prompts:
            assert fact.output_ids is not None
            ids = tuple(id + (at >= position) for at, id in enumerate(fact.output_ids))
            fact = fact.model_copy(update={"output_ids": ids, "output_digest": digest_of(ids)})
        requests.append(fact if kept else fact.model_copy(update={"output_ids": None}))
    said = [
        DivergenceFact(
            purpose="headline", trial=trial, prompt=prompt, seed=1, position=position, judgement=judgement, gap=0.0 if judgement == "tie" else 2.0,
            tolerance=0.1, plain_token=11, speculative_token=12,
        )
        for prompt in prompts for trial in range(4)
    ] if judgement else []  # fmt: skip
    return build(found.model_copy(update={"requests": tuple(requests), "divergences": tuple(said)}))


def test_repeats_of_an_answer_are_one_row() -> None:
    """Catches a report that grows with every pass, and rows that do not add up to the requests that were compared."""
    (found,) = parted().losslessness
    assert len(found.answers) == 8
    assert sum(row.times for row in found.answers) == found.n == 32
    assert sum(row.times for row in found.answers if row.judgement == "equal") == found.equal == 24
    assert {(row.prompt, row.position, row.plain_token) for row in found.answers if row.judgement == "tie"} == {("ru-01", 5, 11), ("ru-03", 5, 11)}


@pytest.mark.parametrize(
    ("judgement", "symbol", "words"), [("tie", "circle-open", "tie"), ("violation", "x", "violation"), (None, "diamond-open", "not judged")]
)
def test_shape_says_what_was_judged(judgement: str | None, symbol: str, words: str) -> None:
    """Catches a violation that looks like a tie, and a place that is off by the length of the answer."""
    plot = sameness.build(parted(judgement=judgement), "en")
    assert plot.figure is not None
    apart, equal = plot.figure["data"]
    assert (set(apart["x"]), set(apart["marker"]["symbol"])) == ({5}, {symbol})
    assert set(equal["marker"]["symbol"]) == {"circle"}
    assert all(words in text for text in apart["hovertext"])
    assert plot.finding.startswith("24 of 32\u00a0requests equal to plain")
    assert plot.figure["layout"]["yaxis"]["ticktext"] == ["bfloat16 · parts 8", "bfloat16 · equal 24"]


def test_marks_are_as_many_as_the_name_of_their_row_says() -> None:
    """Catches requests that lie on each other: six that part would show as three marks."""
    plot = sameness.build(parted(), "en")
    assert plot.figure is not None
    marks = [list(zip(trace["x"], trace["y"], strict=True)) for trace in plot.figure["data"]]
    assert [len(set(found)) for found in marks] == [len(found) for found in marks] == [8, 24]
    assert all(abs(y - round(y)) < 0.5 for found in marks for _, y in found)


def test_the_table_names_place_and_tokens() -> None:
    """Catches a twin without what the marks stand for."""
    rows: Any = sameness.build(parted(), "en").table.rows
    assert rows[0] == ("ru-01", "bfloat16", "4", "32", "tie", "5", "11", "12")
    assert [cell.why for cell in rows[-1] if isinstance(cell, Shown)] == ["nowhere", "the same", "the same"]


def test_a_place_that_is_not_known_is_counted() -> None:
    """Catches an answer of a private suite that vanishes from the picture without a word."""
    plot = sameness.build(parted(kept=False, judgement=None), "en")
    assert plot.figure is not None
    assert len(plot.figure["data"]) == 1
    assert "Not drawn, since only digests of the answers are kept: 8\u00a0requests." in plot.caption
    assert "24 of 32" in plot.finding


def test_all_equal_has_one_row() -> None:
    plot = sameness.build(build(factories.record()), "en")
    assert plot.figure is not None
    assert len(plot.figure["data"]) == 1
    assert "32 of 32\u00a0requests equal to plain" in plot.finding


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_drawn_answers_have_a_sentence(locale: str) -> None:
    """Catches a strip of answers that differ by chance."""
    spec = factories.run_spec(sampling={"temperature": 0.8}, verifier={"name": "rejection"})
    plot = sameness.build(build(factories.record(spec=spec)), locale)
    assert plot.figure is None
    assert plot.empty


def test_rows_of_answers_do_not_reach_the_export() -> None:
    """Catches answers that count as figures: the file holds the shares alone."""
    text = to_csv(parted())
    assert "answers=ties" in text
    assert "ru-01" not in text
