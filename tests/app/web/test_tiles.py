"""The four tiles of a run."""

import pytest

from app.reports.report import Losslessness
from app.web.pages.run import output


def seen(dtype: str, equal: int, n: int = 16) -> Losslessness:
    return Losslessness(dtype=dtype, equal=equal, n=n, plain_equal=n, plain_n=n, first_divergence=None if equal == n else 7)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([seen("bfloat16", 16), seen("float32", 8, 8)], "unchanged"),
        ([seen("bfloat16", 14), seen("float32", 8, 8)], "same in float32"),
        ([seen("bfloat16", 14), seen("float32", 7, 8)], "changed"),
        ([seen("bfloat16", 14)], "changed"),
    ],
)
def test_the_word_for_the_output(found: list[Losslessness], words: str) -> None:
    """Catches "unchanged" over answers that differ, and "changed" that hides that float32 shows the rule to be exact."""
    shown = output(found, "en")
    assert shown.value == words
    assert all(f"{each.equal} of {each.n}" in shown.n.replace("\u00a0", " ") for each in found)


def test_plain_against_plain_stands_beside_a_difference() -> None:
    """Catches a difference without the measure of how much plain differs from itself."""
    assert "plain against plain 16 of 16" in output([seen("bfloat16", 14)], "en").n


def test_an_output_that_was_not_compared_says_so() -> None:
    """Catches a blank tile."""
    assert output([], "en").why
