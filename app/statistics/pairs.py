"""Speed-ups over pairs (definitions § 3). At load 1 a prompt is a pair: its arms measured back to back, the order swapped in the next pass.
Under load two neighbouring trials of a block are one.

Prompts are not bootstrapped: noise shared by a whole trial is invisible to that. Inside a pair the shared noise cancels.
"""

from collections.abc import Sequence

import numpy as np

from app.domain.estimate import Estimate
from app.statistics.clusters import Array, geometric_mean


def speedup(plain_seconds: Sequence[float] | Array, speculative_seconds: Sequence[float] | Array) -> Estimate:
    """The geometric mean over prompts of mean plain ÷ mean speculative seconds, t on the log. Both `[prompts]`: means over a prompt's passes."""
    return geometric_mean(quotients(plain_seconds, speculative_seconds))


def noise_floor(first_seconds: Sequence[float] | Array, second_seconds: Sequence[float] | Array) -> Estimate:
    """Plain against plain: per prompt the mean seconds of plain requests that ran first in their pair ÷ of those that ran second.

    Nothing differs between the two but their place, and places are balanced over prompts and swapped from pass to pass: drift becomes symmetric
    noise, so an interval without 1 says that the place in the pair matters here, that is, that the bench is not level.
    """
    return geometric_mean(quotients(first_seconds, second_seconds))


def throughput_speedup(speculative: Sequence[float] | Array, plain: Sequence[float] | Array) -> Estimate:
    """The geometric mean over trial pairs of speculative ÷ plain tokens per second, t on the log. Both `[trial pairs]`.

    Repeats of the same prompts are what varies, so it speaks of these prompts.
    """
    return geometric_mean(quotients(speculative, plain), counted="trial pairs").model_copy(update={"scope": "these prompts"})


def throughput_floor(first: Sequence[float] | Array, second: Sequence[float] | Array) -> Estimate:
    """Plain against plain under load: per block tokens per second of the plain trial that ran first in its pair ÷ of the one that ran second."""
    return geometric_mean(quotients(first, second), counted="blocks").model_copy(update={"scope": "these prompts"})


def latency_speedup(plain: Sequence[float] | Array, speculative: Sequence[float] | Array) -> Estimate:
    """The geometric mean over trial pairs at the same planned arrivals of a quantile of plain latency ÷ that of speculative latency, t on the log.
    Both `[trial pairs]`."""
    return geometric_mean(quotients(plain, speculative), counted="trial pairs").model_copy(update={"scope": "these prompts"})


def latency_floor(first: Sequence[float] | Array, second: Sequence[float] | Array) -> Estimate:
    """Plain against plain in an open load: per block the median latency of plain that ran first in its pair ÷ of plain that ran second."""
    return geometric_mean(quotients(first, second), counted="blocks").model_copy(update={"scope": "these prompts"})


def quotients(numerator: Sequence[float] | Array, denominator: Sequence[float] | Array) -> Array:
    return np.asarray(numerator, dtype=np.float64) / np.asarray(denominator, dtype=np.float64)


def excludes_one(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.high is not None and not estimate.low <= 1 <= estimate.high
