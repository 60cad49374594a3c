"""Claims in words."""

from typing import Any

import pytest

from app.claims.schemas import UNITS
from app.web import claim_words
from tests.app.claims.test_type import claim


@pytest.mark.parametrize(
    ("quantity", "given", "upto", "en", "ru"),
    [
        ("speed-up", 5.3, None, "5.3×", "5,3×"),
        ("speed-up", 2.0, None, "2×", "2×"),
        ("acceptance", 0.797, None, "79.7%", "79,7\u00a0%"),
        ("acceptance", 0.038, None, "3.8%", "3,8\u00a0%"),
        ("acceptance", 0.8, 0.88, "80–88%", "80–88\u00a0%"),
        ("tokens per call", 4.85, None, "4.85\u00a0tok", "4,85\u00a0ток."),
        ("speed", 113.0, None, "113\u00a0tok/s", "113\u00a0токен/с"),
    ],
)
def test_no_digit_more_than_was_published(quantity: Any, given: float, upto: float | None, en: str, ru: str) -> None:
    """Catches a claim that looks more exact than its source made it, and binary noise in a share."""
    made = claim(quantity=quantity, unit=UNITS[quantity], value=given, upto=upto)
    assert (claim_words.value(made, "en"), claim_words.value(made, "ru")) == (en, ru)


def test_what_some_leave_out_is_said_of_some() -> None:
    """Catches a claim that says its language under a label that none does."""
    silent, half = claim(lacks=("language", "tokenizer", "load")), claim(lacks=("tokenizer",))
    assert claim_words.together([silent], "en") == "no language, no tokenizer"
    assert claim_words.together([silent, half], "en") == "in part: no language, no tokenizer"
    assert claim_words.lacking(claim(lacks=()), "en") == "nothing"
