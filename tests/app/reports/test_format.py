"""Numbers and sentences in both languages of the pages."""

from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.domain.estimate import Estimate
from app.domain.sentence import Quantity, plain
from app.reports.format import counted, decimal, duration, estimate, moment, number, say

NB = "\u00a0"


@pytest.mark.parametrize(
    ("kind", "numbers", "en", "ru"),
    [
        ("ratio", (1.18, 1.09, 1.27), f"1.18× [1.09,{NB}1.27]", f"1,18× [1,09;{NB}1,27]"),
        ("share", (0.41, 0.361, 0.462), f"41.0% [36.1,{NB}46.2]", f"41,0{NB}% [36,1;{NB}46,2]"),
        ("points", (-0.172, -0.218, -0.129), f"−17.2{NB}pp [−21.8,{NB}−12.9]", f"−17,2{NB}п.{NB}п. [−21,8;{NB}−12,9]"),
        ("seconds", (0.0123, 0.0119, 0.0128), f"12.3{NB}ms [11.9,{NB}12.8]", f"12,3{NB}мс [11,9;{NB}12,8]"),
        ("characters_per_second", (148.2, 141.0, 155.4), f"148{NB}char/s [141,{NB}155]", f"148{NB}симв./с [141;{NB}155]"),
        ("tokens", (2.47, 2.30, 2.65), f"2.47{NB}tok [2.30,{NB}2.65]", f"2,47{NB}ток. [2,30;{NB}2,65]"),
    ],
)
def test_a_number_with_its_interval(kind: str, numbers: tuple[float, float, float], en: str, ru: str) -> None:
    """Catches a glued percent sign, a comma that is both decimal mark and separator, an ASCII hyphen as minus, a unit that wraps away."""
    assert str(number(kind, *numbers)) == en
    assert str(number(kind, *numbers, locale="ru")) == ru


def test_thousands() -> None:
    """Catches a comma between Russian thousands, where it would read as a decimal mark."""
    assert decimal(12208, 0, "en") == "12,208"
    assert decimal(12208, 0, "ru") == f"12{NB}208"


def test_the_interval_decides_the_digits() -> None:
    """Catches three decimals of noise, and two decimals that hide a narrow interval."""
    assert number("ratio", 1.2345, 0.9, 1.6).value == "1.23×"
    assert number("ratio", 1.2345, 1.2321, 1.2369).value == "1.234×"
    assert number("tokens_per_second", 151.62, 142.0, 161.0).value == f"152{NB}tok/s"


@pytest.mark.parametrize(
    ("kind", "numbers", "ends"),
    [
        ("ratio", (1.1, 1.0004, 1.2), "1.0004"),
        ("ratio", (0.9, 0.8, 0.9996), "0.9996"),
        ("points", (0.02, 0.0001, 0.04), "0.01"),
        ("share", (0.99, 0.95, 0.9998), "99.98"),
    ],
)
def test_no_end_is_rounded_onto_what_decides(kind: str, numbers: tuple[float, float, float], ends: str) -> None:
    """Catches an interval that excludes 1 (or 0, or 100 %) and is printed as if it touched it: it would contradict the verdict beside it."""
    assert ends in (number(kind, *numbers).interval or "")


@given(st.floats(0.01, 50), st.floats(0, 2), st.floats(0, 2))
def test_a_printed_interval_stands_on_the_same_side_of_one(point: float, below: float, above: float) -> None:
    """Catches rounding that moves an interval across a ratio of 1, whatever its width."""
    low, high = point / (1 + below), point * (1 + above)
    assume(abs(low - 1) > 1e-4 and abs(high - 1) > 1e-4)
    printed = number("ratio", point, low, high).interval
    assert printed is not None
    left, right = (float(end.replace(",", "")) for end in printed.strip("[]").split(f",{NB}"))
    assert (left > 1, right < 1) == (low > 1, high < 1)


def test_no_interval_prints_none() -> None:
    """Catches brackets around nothing, and a point that is made up where there is none."""
    alone = Estimate(point=1.2, n=3, counted="prompts", reason=plain("few"))
    absent = Estimate(point=None, n=0, counted="prompts", reason=plain("none"))
    assert str(estimate("ratio", alone)) == "1.20×"
    assert estimate("ratio", absent) is None


def test_a_rounded_zero_has_no_sign() -> None:
    """Catches −0.0 points."""
    assert decimal(-0.00001, 1, "en") == "0.0"


@pytest.mark.parametrize(
    ("n", "en", "ru"), [(1, "1 prompt", "1 промпт"), (2, "2 prompts", "2 промпта"), (5, "5 prompts", "5 промптов"), (21, "21 prompts", "21 промпт")]
)
def test_counts_have_their_plural(n: int, en: str, ru: str) -> None:
    """Catches two plural forms where Russian has three."""
    assert counted(n, "prompts").replace(NB, " ") == en
    assert counted(n, "prompts", "ru").replace(NB, " ") == ru


@pytest.mark.parametrize(
    ("of", "en", "ru"),
    [(16, "9 of 16 prompts", "9 из 16 промптов"), (21, "9 of 21 prompts", "9 из 21 промпта"), (22, "9 of 22 prompts", "9 из 22 промптов")],
)
def test_clusters_that_carry_nothing_are_told_beside_those_that_do(of: int, en: str, ru: str) -> None:
    """Catches an n of prompts on which the interval does not rest, under a number and inside a sentence."""
    assert counted(9, "prompts", of=of).replace(NB, " ") == en
    assert counted(9, "prompts", "ru", of=of).replace(NB, " ") == ru
    sentence = plain("Over %(prompts)s.", prompts=9, prompts_of=of)
    assert say(sentence).replace(NB, " ") == f"Over {en}."
    assert say(sentence, "ru").replace(NB, " ") == f"Over {ru}."


def test_a_sentence_is_filled_in_its_language() -> None:
    """Catches a number formatted for another locale than the sentence around it, a bare tag where a language is meant, a count without its noun."""
    sentence = plain("Does %(drafter)s pay off in %(language)s at %(requests)s at a time?", drafter="ngram", language="ru", requests=4)
    assert say(sentence).replace(NB, " ") == "Does ngram pay off in Russian at 4 requests at a time?"
    russian = say(sentence, "ru").replace(NB, " ")
    assert "на русском" in russian
    assert "4 запроса" in russian


def test_a_quantity_inside_a_sentence() -> None:
    """Catches a decimal point in a Russian sentence."""
    sentence = plain("It is %(speedup)s.", speedup=Quantity(kind="ratio", value=1.18, low=1.09, high=1.27))
    assert say(sentence) == f"It is 1.18× [1.09,{NB}1.27]."
    assert "1,18×" in say(sentence, "ru")


def test_a_percent_sign_in_a_text_is_no_placeholder() -> None:
    """Catches the format error that a sentence such as "a share of 100% has none" would be."""
    assert say(plain("a share of exactly 0% or 100% has none")) == "a share of exactly 0% or 100% has none"


def test_dates_and_durations() -> None:
    """Catches American dates and seconds beside hours."""
    when = datetime(2026, 11, 30, 14, 5, tzinfo=UTC)
    assert moment(when) == "30 Nov 2026, 14:05"
    assert moment(when, "ru") == "30 нояб. 2026, 14:05"
    assert duration(252).replace(NB, " ") == "4 min 12 s"
    assert duration(252, "ru").replace(NB, " ") == "4 мин 12 с"
    assert duration(0).replace(NB, " ") == "0 s"


def test_a_gate_is_named_in_the_readers_language() -> None:
    """Catches an English word inside a Russian sentence."""
    sentence = plain("Run %(run)s (%(language)s, %(drafter)s) is refused by the gate “%(gate)s”, so nothing is contrasted with it.",
                     run=3, language="ru", drafter="ngram", gate="unknown language")  # fmt: skip
    assert "unknown" in say(sentence)
    assert "unknown" not in say(sentence, "ru")


def test_a_unit_with_a_stop_ends_a_sentence_once() -> None:
    """Catches `0,0 п. п..` where a difference is the last word."""
    said = say(plain("Разница %(difference)s.", difference=Quantity(kind="points", value=0.012)), "ru")
    assert said.endswith("1,2\u00a0п.\u00a0п.")
