"""One sentence of two runs: what it says of each is so, whatever the two verdicts are."""

import re
from itertools import product
from typing import Literal, get_args

import pytest

from app.domain.estimate import Estimate
from app.domain.sentence import Sentence, plain
from app.reports.against import both, by_load, half, unsettled
from app.reports.build import build
from app.reports.format import say
from app.reports.report import BreakEven, Contrast, Report
from app.statistics import reasons
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


NAMED = {"first": "41", "second": "42"}
SPEED, ACCEPTED = contrast("quotient", 1.8, 0.05), contrast("difference", 0.893, 0.02)
UNTOLD = [
    (1, reasons.one_request(), "too few prompts"),
    (3, reasons.few(3), "too few prompts"),
    (7, reasons.no_spread(), "every prompt gave the same value"),
]


def bare(kind: Literal["difference", "quotient"], point: float, n: int, reason: Sentence) -> Contrast:
    """A contrast that has a point and no interval."""
    return Contrast(id="x", kind=kind, estimate=Estimate(point=point, n=n, of=8, counted="prompts", reason=reason))


def crossing(low: float, high: float) -> BreakEven:
    return BreakEven(low=low, high=high, sentence=plain("x"))


def every(accepted: Contrast) -> list[Sentence]:
    """All that may be said where acceptance is contrasted."""
    settled = [
        both([judged(RU, first), judged(EN, second)], axis, accepted, contrast("quotient", speedup, 0.05))
        for first, second in product(OUTCOMES, OUTCOMES)
        for speedup in (0.5, 1.0, 1.8)
        for axis in ("language", "nothing")
    ]
    loads = [by_load(NAMED, accepted, crossing(1, 4), crossing(*ends), kind="count") for ends in ((4, 8), (0.5, 1), (2, 8))]
    without = [both([RU, EN], "language", accepted, bare("quotient", 1.8, 3, reason)) for reason in (reasons.few(3), reasons.one_request())]
    causes = [EN.verdict.model_copy(update={"causes": (cause,), "noise_floor": SPEED.estimate}) for cause, _ in UNSETTLED]
    benches = [said for own in causes if (said := unsettled([RU, EN.model_copy(update={"verdict": own})], accepted)) is not None]
    return [*settled, *loads, *without, *benches, half(NAMED, accepted, None)]


@pytest.mark.parametrize(("n", "reason", "words"), UNTOLD)
def test_a_difference_without_an_interval_is_never_told(n: int, reason: Sentence, words: str) -> None:
    """Catches "the difference is 89.3 pp" of one drafted token in one prompt, in any sentence and in either language."""
    for sentence in every(bare("difference", 0.893, n, reason)):
        english, russian = say(sentence), say(sentence, "ru")
        assert "89" not in english + russian, english
        assert sentence.values.keys().isdisjoint({"difference", "pairs_of"})
        assert not re.search("[a-z]{3}", russian), russian
        if "settles nothing of speed" not in english:
            assert f"cannot be told: {words}" in english, english
            assert f"the run with fewer drafted in {n}\u00a0of\u00a08\u00a0prompts" in english
            assert "сказать нельзя: " in russian
            assert f"{n}\u00a0из\u00a08\u00a0промптов" in russian
    assert say(half(NAMED, bare("difference", 0.893, n, reason), None)).startswith("Cannot tell: only acceptance is contrasted")


def test_a_difference_with_an_interval_is_told_in_every_sentence() -> None:
    """Catches the reverse: nothing is said of acceptance although it is known."""
    for sentence in every(ACCEPTED):
        assert "89.3\u00a0pp\u00a0[87.3,\u00a091.3]" in say(sentence).replace(" [", "\u00a0["), say(sentence)


def test_runs_of_the_same_counts_do_not_differ() -> None:
    """Catches "cannot be told" of two runs that gave the same on each prompt, which have no spread to read an interval from."""
    same = Contrast(id="x", kind="difference", estimate=Estimate(point=0, n=8, counted="prompts", reason=reasons.no_spread()))
    assert say(half(NAMED, same, None)) == "Only acceptance is contrasted: the difference is 0.0\u00a0pp, over 8\u00a0pairs."


@pytest.mark.parametrize("reason", [reasons.few(3), reasons.no_spread()])
def test_a_speed_up_without_an_interval_settles_nothing(reason: Sentence) -> None:
    """Catches "only speed is contrasted", with a number and without a word that it may be chance."""
    said = half(NAMED, None, bare("quotient", 1.8, 3, reason))
    assert say(said).startswith("Cannot tell: only speed is contrasted, and 3\u00a0pairs give no interval")
    assert say(half(NAMED, None, SPEED)).startswith("Only speed is contrasted: ")
    assert say(half(NAMED, None, SPEED)).endswith(", over 12\u00a0pairs.")


def test_a_difference_is_of_all_pairs() -> None:
    """Catches "over 9 of 16 pairs" of shares that are over all 16: the 9 are those of the run that drafted in fewer."""
    estimate = Estimate(point=0.1, low=0.05, high=0.15, n=9, of=16, counted="prompts")
    said = half(NAMED, Contrast(id="x", kind="difference", estimate=estimate), None)
    assert say(said).endswith(", over 16\u00a0pairs (the run with fewer drafted in 9).")
    assert say(said, "ru").endswith("(16\u00a0пар, из них с черновиками там, где их меньше, — 9).")
