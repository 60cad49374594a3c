"""Speed at load 1: one prompt is one pair, its arms measured back to back, the order swapped in the next pass (definitions § 3).

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


def quotients(numerator: Sequence[float] | Array, denominator: Sequence[float] | Array) -> Array:
    return np.asarray(numerator, dtype=np.float64) / np.asarray(denominator, dtype=np.float64)


def excludes_one(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.high is not None and not estimate.low <= 1 <= estimate.high
