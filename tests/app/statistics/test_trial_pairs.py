"""Nominal 95 % intervals over trial pairs against simulated truth: noise shared by a whole trial, and a machine that drifts."""

import numpy as np
import pytest
from numpy.typing import NDArray

from app.domain.estimate import Estimate
from app.statistics.clusters import product
from app.statistics.pairs import excludes_one, throughput_floor, throughput_speedup
from app.statistics.verdict import Evidence, rule
from tests.app.statistics.simulate import coverage

Array = NDArray[np.float64]
SIMULATIONS = 4000
BY_CHANCE = 3 * (0.05 * 0.95 / SIMULATIONS) ** 0.5
TRUTH = 1.2
# Log standard deviations: of a trial's own noise, of the random walk's step from trial to trial.
NOISES = [(0.03, 0.0), (0.03, 0.03), (0.1, 0.0), (0.1, 0.1), (0.0, 0.1)]


def trials(source: np.random.Generator, blocks: int, noise: float, step: float, *, slope: float = 0.0) -> Array:
    """Log tokens per second of the four trials of each block, all of one arm, in the order measured: `[simulations, blocks, 4]`."""
    shape = (SIMULATIONS, blocks * 4)
    drift = np.cumsum(source.normal(0, step, shape), axis=1) + slope * np.arange(blocks * 4)
    return (drift + source.normal(0, noise, shape)).reshape(SIMULATIONS, blocks, 4)


def arms(logs: Array) -> tuple[Array, Array]:
    """(plain, speculative) rates per trial pair, blocks ABBA and BAAB in turn, `[simulations, pairs]`."""
    abba = (np.arange(logs.shape[1]) % 2 == 0)[:, None]
    outer, inner = logs[..., [0, 3]], logs[..., [1, 2]]
    plain, speculative = np.where(abba, outer, inner), np.where(abba, inner, outer)
    return np.exp(plain.reshape(SIMULATIONS, -1)), TRUTH * np.exp(speculative.reshape(SIMULATIONS, -1))


def floors(logs: Array) -> list[Estimate]:
    """Plain that ran first in its pair ÷ plain that ran second: in ABBA the outer trials as they came, in BAAB the inner ones the other way round."""
    abba = np.arange(logs.shape[1]) % 2 == 0
    first, second = np.where(abba, logs[..., 0], logs[..., 2]), np.where(abba, logs[..., 3], logs[..., 1])
    return [throughput_floor(a, b) for a, b in zip(np.exp(first), np.exp(second), strict=True)]


@pytest.mark.parametrize(("noise", "step"), NOISES)
@pytest.mark.parametrize("pairs", [4, 8])
def test_speedup_of_throughput_covers(pairs: int, noise: float, step: float) -> None:
    """Catches degrees of freedom of requests or prompts, and drift leaking from one neighbour to the other."""
    plain, speculative = arms(trials(np.random.default_rng(pairs), pairs // 2, noise, step))
    found = [throughput_speedup(s, p) for s, p in zip(speculative, plain, strict=True)]
    assert 0.93 <= coverage(found, TRUTH) <= 0.97


@pytest.mark.parametrize("pairs", [4, 8])
def test_total_time_covers(pairs: int) -> None:
    """Σ/Σ beside the pairs' estimate: windows of about the same length, so that its truth is that of the pairs."""
    plain, speculative = arms(trials(np.random.default_rng(20 + pairs), pairs // 2, 0.03, 0.03))
    ones = np.ones(pairs)
    found = [product([(ones, 1), (1 / s, -1), (ones, -1), (1 / p, 1)], counted="trial pairs") for s, p in zip(speculative, plain, strict=True)]
    assert 0.93 <= coverage(found, TRUTH) <= 0.97


@pytest.mark.parametrize(("noise", "step"), NOISES)
@pytest.mark.parametrize("blocks", [3, 4, 8])
def test_a_level_bench_is_seldom_said_not_to_be(blocks: int, noise: float, step: float) -> None:
    """Under a random walk, "the bench is not level" in at most 5 %, beyond chance."""
    found = floors(trials(np.random.default_rng(blocks), blocks, noise, step))
    assert all(each.low is not None for each in found)
    assert np.mean([excludes_one(each) for each in found]) <= 0.05 + BY_CHANCE


def test_a_steady_slope_is_no_order_effect() -> None:
    """A machine that warms up by 2 % a trial: places in the pair turn the sign from block to block. Earlier ÷ later alone, the negative
    control, would call every such bench not level."""
    logs = trials(np.random.default_rng(4), 4, 0.003, 0.003, slope=0.02)
    assert np.mean([excludes_one(each) for each in floors(logs)]) <= 0.05
    abba = np.arange(4) % 2 == 0
    earlier, later = np.where(abba, logs[..., 0], logs[..., 1]), np.where(abba, logs[..., 3], logs[..., 2])
    naive = [throughput_floor(a, b) for a, b in zip(np.exp(earlier), np.exp(later), strict=True)]
    assert np.mean([excludes_one(each) for each in naive]) > 0.5


def test_an_order_effect_is_found() -> None:
    """Whoever runs second in a pair is 6 % slower: six blocks must show it."""
    logs = trials(np.random.default_rng(6), 6, 0.01, 0.01)
    found = floors(logs - 0.06 * np.array([0, 1, 0, 1]))
    assert np.mean([excludes_one(each) for each in found]) > 0.9


@pytest.mark.parametrize("pairs", [4, 8])
def test_equal_arms_seldom_seem_to_pay(pairs: int) -> None:
    """A/A at margin 0: `pays` in at most 2.5 %, beyond chance."""
    logs = trials(np.random.default_rng(40 + pairs), pairs // 2, 0.03, 0.03)
    plain, speculative = arms(logs)
    speedups = [throughput_speedup(s / TRUTH, p) for s, p in zip(speculative, plain, strict=True)]
    seen = [Evidence("speedup_throughput", 0.0, found, floor, blocks=pairs // 2) for found, floor in zip(speedups, floors(logs), strict=True)]
    assert np.mean([rule(each).outcome == "pays" for each in seen]) <= 0.025 + BY_CHANCE
    assert any(rule(each).causes != ("no noise floor",) for each in seen)


def test_fewer_than_four_pairs_or_three_blocks_have_no_interval() -> None:
    """Three pairs, two blocks: a reason that counts what there is, never a reason about prompts."""
    few, two = throughput_speedup([1.2, 1.3, 1.25], [1.0, 1.0, 1.0]), throughput_floor([1.0, 1.1], [1.1, 1.0])
    assert (few.low, few.n, few.counted) == (None, 3, "trial pairs")
    assert few.reason is not None
    assert few.reason.values == {"trial_pairs": 3, "least": 4}
    assert (two.low, two.n, two.counted) == (None, 2, "blocks")
    assert two.reason is not None
    assert two.reason.values == {"blocks": 2, "least": 3}
