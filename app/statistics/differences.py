"""Two runs on the same prompts or on parallel ones: paired differences of shares and paired quotients of ratios, t with n − 1.

All arrays are `[pairs]`; entry i of run A and of run B belong to the same pair.
"""

import math
from collections.abc import Sequence

import numpy as np

from app.domain.estimate import LEVEL, Counted, Estimate
from app.statistics import reasons
from app.statistics.clusters import Array, Base, geometric_mean, influence_error, influences, too_few
from app.statistics.student import quantile


def share_difference(
    a: tuple[Array, Array],
    b: tuple[Array, Array],
    *,
    counted: Counted = "parallel pairs",
) -> Estimate:
    """Share of A minus share of B, each (numerator, denominator) per pair, from the differences of what a pair adds to either share."""
    # Of two sides the one with fewer clusters limits what is known of the spread, however many the other has.
    carrying = min(int((denominator > 0).sum()) for _, denominator in (a, b))
    base = Base(carrying, len(a[0]), counted)
    if carrying == 0:
        return base.estimate(None, reason=reasons.nothing_to_divide_by())
    point = float(a[0].sum() / a[1].sum() - b[0].sum() / b[1].sum())
    reason = too_few(carrying)
    error = 0.0 if reason else influence_error(_share_influences(*a) - _share_influences(*b), carrying)
    if reason is None and error <= 1e-12:
        reason = reasons.no_spread()
    if reason is not None:
        return base.estimate(point, reason=reason)
    half = quantile(LEVEL, carrying - 1) * error
    # A difference of shares cannot leave [−1, 1].
    return base.estimate(point, max(point - half, -1.0), min(point + half, 1.0))


def _share_influences(numerator: Array, denominator: Array) -> Array:
    total = float(denominator.sum())
    return (numerator - denominator * (float(numerator.sum()) / total)) / total


def product_quotient(a: Sequence[tuple[Array, int]], b: Sequence[tuple[Array, int]], *, counted: Counted = "parallel pairs") -> Estimate:
    """A ÷ B of two figures of the form Π (Σ term)^exponent, on the log, from the differences of influences."""
    terms = [*a, *((values, -power) for values, power in b)]
    carrying = min(int(np.all([values > 0 for values, power in side if power < 0], axis=0).sum()) for side in (a, b))
    base = Base(carrying, len(a[0][0]), counted)
    sums = [(float(values.sum()), power) for values, power in terms]
    if any(total == 0 for total, _ in sums):
        return base.estimate(None, reason=reasons.nothing_to_divide_by())
    point = math.prod(total**power for total, power in sums)
    reason = too_few(carrying)
    error = 0.0 if reason else influence_error(influences(terms), carrying)
    if reason is None and error <= 1e-12:
        reason = reasons.no_spread()
    if reason is not None:
        return base.estimate(point, reason=reason)
    half = quantile(LEVEL, carrying - 1) * error
    return base.estimate(point, point * math.exp(-half), point * math.exp(half))


def quotient_of_pairs(a: Array, b: Array, *, counted: Counted = "parallel pairs") -> Estimate:
    """The geometric mean of A ÷ B where each run already has one ratio per pair (a speed-up of each prompt)."""
    return geometric_mean(np.asarray(a) / np.asarray(b), counted=counted)
