"""The grid of coverages: its worst cells at once, all of them in the table that the pages quote."""

import json
from itertools import product

import numpy as np
import pytest

from tests.app.statistics.grid import EFFECT, LOADS, NOISES, PROMPTS, TABLE, TRIAL_PAIRS, Cell, measured, rates, single
from tests.app.statistics.simulate import coverage

SIMULATIONS = 2000
# Three standard errors of a coverage of 95 %.
BY_CHANCE = 3 * (0.05 * 0.95 / SIMULATIONS) ** 0.5


@pytest.mark.parametrize(("prompts", "pairs", "noise"), list(product((8, 48), TRIAL_PAIRS, (0.0, 0.1))))
def test_one_at_a_time_covers(prompts: int, pairs: int, noise: float) -> None:
    """Catches noise shared by a whole pass leaking into the interval, or requests counted as if they were prompts."""
    covered = measured(Cell(1, prompts, pairs, noise), SIMULATIONS).covered
    assert covered is not None
    assert abs(covered - 0.95) <= BY_CHANCE


@pytest.mark.parametrize(("pairs", "noise"), list(product(TRIAL_PAIRS, (0.0, 0.1))))
def test_four_at_a_time_cover(pairs: int, noise: float) -> None:
    """Catches a steady window whose edges favour an arm by the order of prompts, and degrees of freedom that are not those of trial pairs."""
    covered = measured(Cell(4, 24, pairs, noise), SIMULATIONS).covered
    assert covered is not None
    assert abs(covered - 0.95) <= BY_CHANCE


def test_noise_of_one_arm_alone_is_not_covered_at_load_1() -> None:
    """The negative control, and a limit: what slows one arm for a whole pass is alike for all prompts, and t over prompts is blind to it."""
    found, _ = single(np.random.default_rng(1), SIMULATIONS, Cell(1, 24, 4, 0.1), one_arm=True)
    assert coverage(found, EFFECT) < 0.8


def test_rates_are_those_of_slots_that_are_never_idle() -> None:
    """By hand: two slots, requests of 1, 3, 2, 1, 1, 1 seconds and 10 tokens a second. From 1 s (first refill) to 4 s (nobody waits any more)."""
    seconds = np.array([[1.0, 3.0, 2.0, 1.0, 1.0, 1.0]])
    assert rates(10 * seconds, seconds, 2) == pytest.approx([20.0])
    # The same while a slot stands idle at the end would be less.
    assert 10 * seconds.sum() / 5 < 20


def test_the_table_is_whole_and_covers() -> None:
    """Catches a table that was written by another grid than the one in the code, or one with a cell outside 93 to 97 %."""
    told = json.loads(TABLE.read_text(encoding="utf-8"))
    cells = [Cell(**cell) for cell in told["cells"]]
    assert [(c.load, c.prompts, c.trial_pairs, c.noise) for c in cells] == list(product(LOADS, PROMPTS, TRIAL_PAIRS, NOISES))
    assert [(c.load, c.prompts) for c in cells if c.covered is None] == [(4, 8)] * len(TRIAL_PAIRS) * len(NOISES)
    assert all(0.93 <= c.covered <= 0.97 for c in cells if c.covered is not None)
