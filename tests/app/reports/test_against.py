"""One sentence of two runs: what it says of each is so, whatever the two verdicts are."""

import re
from itertools import product
from typing import Literal, get_args

import pytest

from app.domain.estimate import Estimate
from app.reports.against import both, unsettled
from app.reports.build import build
from app.reports.format import say
from app.reports.report import Contrast, Report
from app.statistics.verdict import Cause, Outcome
from tests import factories

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
RU, EN = build(factories.record(run=41, language="ru")), build(factories.record(run=42, language="en"))


def contrast(kind: Literal["difference", "quotient"], point: float, half: float) -> Contrast:
    return Contrast(id="x", kind=kind, estimate=Estimate(point=point, low=point - half, high=point + half, n=12, counted="parallel pairs"))


def judged(report: Report, outcome: Outcome) -> Report:
    return report.model_copy(update={"verdict": report.verdict.model_copy(update={"outcome": outcome})})


def said(first: Outcome, second: Outcome, speedup: float, locale: str = "en") -> str:
    reports = [judged(RU, first), judged(EN, second)]
    return say(both(reports, "language", contrast("difference", 0.1, 0.02), contrast("quotient", speedup, 0.05)), locale)


@pytest.mark.parametrize(("first", "second"), list(product(OUTCOMES, OUTCOMES)))
def test_a_faster_run_is_said_to_do_what_its_verdict_says(first: Outcome, second: Outcome) -> None:
    """Catches a sentence that knows less or more of a run than its verdict: "it is not known that the other pays" of one that surely does not."""
    text = said(first, second, 1.8)
    assert ("known" in text) == ("cannot tell" in (first, second)), text
    assert ("both pay" in text) == (first == second == "pays")
    assert ("does not" in text or "in neither" in text) == ("does not pay" in (first, second))
    assert "run 41 (ru)" in text.lower()
    assert "run 42 (en)" in text.lower()
    assert re.search(r"\b1[.,]80×", text)


def test_what_two_verdicts_and_their_quotient_contradict_in_is_no_answer() -> None:
    """Catches a plain "no" of the run that pays beside one that does not, whichever of the two is named first."""
    for outcomes, speedup in ((("pays", "does not pay"), 0.5), (("does not pay", "pays"), 1.8)):
        assert said(*outcomes, speedup).startswith("Cannot tell: run 4"), outcomes


def test_an_interval_that_holds_no_difference_is_no_yes() -> None:
    """Catches "it pays as well" of an interval that is merely wide: the question is whether it pays as well."""
    text = said("pays", "pays", 1.0)
    assert text.startswith("It pays in both, and no difference in speed-up is shown: ")
    assert "yes" not in text.lower()


@pytest.mark.parametrize(("first", "second"), list(product(OUTCOMES, OUTCOMES)))
def test_russian_has_a_subject_too(first: Outcome, second: Outcome) -> None:
    """Catches a Russian sentence about nobody: both runs are named in it, whatever the quotient."""
    for speedup in (0.5, 1.0, 1.8):
        text = said(first, second, speedup, "ru")
        assert "41 (ru)" in text, text
        assert "42 (en)" in text, text


UNSETTLED: list[tuple[Cause, str]] = [
    ("not level", "plain against plain gave 0.78×"),
    ("contended", "other processes disturbed"),
    ("slow plain", "no fair baseline"),
]


@pytest.mark.parametrize(("cause", "words"), UNSETTLED)
def test_a_bench_that_settles_nothing_of_one_run_settles_nothing_of_two(cause: Cause, words: str) -> None:
    """Catches "run 1 gains more" of a run that was measured beside a busy neighbour."""
    floor = Estimate(point=0.78, low=0.7, high=0.86, n=16, counted="prompts")
    own = EN.verdict.model_copy(update={"causes": (cause,), "noise_floor": floor, "outcome": "cannot tell"})
    reports = [RU, EN.model_copy(update={"verdict": own})]
    accepted = contrast("difference", 0.1, 0.02)
    found = unsettled(reports, accepted)
    assert found is not None
    assert words in say(found)
    assert "Acceptance differs by" in say(found)
    assert "42" in say(found, "ru")
    alone = unsettled(reports, None)
    assert alone is not None
    assert "settles nothing of speed" in say(alone)
    assert unsettled([RU, EN], accepted) is None
