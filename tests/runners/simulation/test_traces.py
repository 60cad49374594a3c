"""Texts drawn by known processes."""

import numpy as np
import pytest

from runners.simulation.traces import COPIED, FREE, PROCESSES, bursty, draw, stationary, switching

TOKENS = 40_000


@pytest.mark.parametrize("chance", [0.0, 0.3, 0.85, 1.0])
def test_as_many_are_kept_as_the_process_says(chance: float) -> None:
    """Catches outcomes drawn from another law than the oracle is told: four standard errors."""
    kept = draw(stationary(chance), TOKENS, 1).kept.mean()
    assert kept == pytest.approx(chance, abs=4 * 0.5 / TOKENS**0.5)


def test_confidence_is_calibrated() -> None:
    """Catches a confidence that is noise: of drafts with confidence about c, a share c is kept."""
    trace = draw(stationary(0.6), TOKENS, 2)
    for low in (0.1, 0.3, 0.5, 0.7, 0.9):
        near = np.abs(trace.confidence - low) < 0.05
        assert trace.kept[near].mean() == pytest.approx(trace.confidence[near].mean(), abs=4 * 0.5 / near.sum() ** 0.5)


def test_a_switch_is_where_it_is_said_to_be() -> None:
    trace = draw(switching(0.9, 0.1), TOKENS, 3)
    assert trace.switches() == [TOKENS // 2]
    assert trace.kept[: TOKENS // 2].mean() > 0.85
    assert trace.kept[TOKENS // 2 :].mean() < 0.15


def test_bursts_last_as_long_as_they_should() -> None:
    """Catches a chain that leaves its states at another rate: 40 tokens on average, four standard errors."""
    trace = draw(bursty(stay=40), TOKENS, 4)
    assert set(np.unique(trace.chance)) == {FREE, COPIED}
    bursts = len(trace.switches()) + 1
    assert TOKENS / bursts == pytest.approx(40, rel=4 / bursts**0.5)


@pytest.mark.parametrize("name", PROCESSES)
def test_the_same_seed_is_the_same_text(name: str) -> None:
    """Catches chance that does not hang on the seed, and seeds that are not used."""
    first, again, other = (draw(PROCESSES[name], 500, seed) for seed in (5, 5, 6))
    assert (first.kept == again.kept).all()
    assert (first.confidence == again.confidence).all()
    assert (first.confidence != other.confidence).any()
