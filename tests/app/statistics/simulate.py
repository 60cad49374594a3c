"""Worlds with a known truth, for holding intervals against. Everything is seeded; arrays are `[simulations, …]`."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from app.domain.estimate import Estimate

Array = NDArray[np.float64]


def acceptance(source: np.random.Generator, simulations: int, prompts: int, *, follows: bool) -> tuple[Array, Array, float]:
    """(V, D, true acceptance): prompts differ in how guessable they are, and in how much is drafted for them.

    With `follows`, an answer of fixed length takes more rounds, and so more drafts, where fewer drafts are kept: D and V/D go against each other.
    """
    chance = source.beta(3.0, 4.5, (simulations, prompts))
    rounds = np.ceil(source.uniform(40, 200, chance.shape) / (1 + 4 * chance)) if follows else source.integers(10, 60, chance.shape).astype(float)
    drafted = 4 * rounds
    verified = source.binomial(drafted.astype(int), chance).astype(float)
    if not follows:
        return verified, drafted, 3.0 / 7.5
    # The truth of a ratio of expectations has no closed form here; 4 million prompts give it to ±0.0002.
    big = source.beta(3.0, 4.5, 4_000_000)
    weight = np.ceil(source.uniform(40, 200, big.shape) / (1 + 4 * big))
    return verified, drafted, float((weight * big).sum() / weight.sum())


def paired_seconds(
    source: np.random.Generator,
    simulations: int,
    prompts: int,
    *,
    passes: int = 6,
    effect: float = 0.0,
    spread: float = 0.12,
    order_effect: float = 0.0,
) -> tuple[Array, NDArray[np.bool_]]:
    """(seconds `[simulations, passes, prompts, arm]`, plain_first `[simulations, passes, prompts]`): load 1, arms back to back, order swapped.

    The machine's speed drifts as a random walk over requests (about 12 % over a run of 24 prompts), every request has noise of its own, prompts
    differ in length and in what speculation gives them. Arm 0 is plain.
    """
    shape = (simulations, passes, prompts)
    coins = np.argsort(source.random((simulations, passes // 2, prompts)), axis=-1) % 2 == 0
    plain_first = np.repeat(coins, 2, axis=1)
    plain_first[:, 1::2] = ~plain_first[:, 1::2]
    drift = np.cumsum(source.normal(0, 0.007, (simulations, passes * prompts * 2)), axis=1).reshape(*shape, 2)
    place = np.stack([np.where(plain_first, 0, 1), np.where(plain_first, 1, 0)], axis=-1)
    own = source.normal(np.log(effect) if effect else 0.0, spread, (simulations, 1, prompts))
    length = np.log(source.uniform(0.5, 3.0, (simulations, 1, prompts)))
    logs = np.take_along_axis(drift, place, axis=-1) + source.normal(0, 0.03, (*shape, 2)) + length[..., None] + order_effect * place
    logs[..., 1] -= own
    return np.exp(logs), plain_first


def places(seconds: Array, plain_first: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Mean plain seconds where plain ran first in its pair, and where it ran second, `[simulations, prompts]`."""
    plain = seconds[..., 0]
    first = np.where(plain_first, plain, 0).sum(axis=1) / plain_first.sum(axis=1)
    second = np.where(plain_first, 0, plain).sum(axis=1) / (~plain_first).sum(axis=1)
    return first, second


def coverage(estimates: list[Estimate], truth: float) -> float:
    """The share of intervals that hold the truth. An estimate without an interval is an error here."""
    return float(np.mean([e.low <= truth <= e.high for e in estimates if e.low is not None and e.high is not None]))


def bootstrap(statistic: Callable[[Array], Array], source: np.random.Generator, n: int, draws: int = 400) -> tuple[float, float]:
    """The percentile bootstrap over prompts: `statistic` takes indices `[draws, n]`."""
    low, high = np.quantile(statistic(source.integers(0, n, (draws, n))), [0.025, 0.975])
    return float(low), float(high)
