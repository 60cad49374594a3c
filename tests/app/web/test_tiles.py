"""The four tiles of a run."""

from datetime import UTC, datetime

import pytest

from app.domain.status import RunState
from app.reports.build import build
from app.reports.report import Losslessness
from app.runs.schemas import RunSummary
from app.web.losslessness import output
from app.web.pages.run import tiles
from tests.factories_load import load_record


def seen(dtype: str, equal: int, n: int = 16) -> Losslessness:
    where = None if equal == n else 7
    return Losslessness(dtype=dtype, equal=equal, n=n, plain_equal=n, plain_n=n, first_divergence=where, unjudged=n - equal)


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


def test_the_tiles_of_a_load_count_its_trial_pairs() -> None:
    """Catches a first tile that looks for another figure than the load's headline, and four tiles that become three."""
    report = build(load_record(acceptance=0.9))
    summary = RunSummary(id=1, state=RunState.SUCCEEDED, spec=report.spec, created_at=datetime(2026, 1, 1, tzinfo=UTC), attempt=1)
    found = tiles(summary, report, "en")
    assert [tile.id for tile in found] == ["speedup_throughput", "acceptance_rate", "tokens_per_target_forward", ""]
    assert (found[0].title, found[0].shown.state) == ("Speed-up of throughput", "value")
    assert found[0].shown.n == "6\u00a0trial\u00a0pairs"
