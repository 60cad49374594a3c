"""Two runs on the same prompts or on parallel ones: paired differences of shares and paired quotients of ratios, t with n − 1.

All arrays are `[pairs]`; entry i of run A and of run B belong to the same pair.
"""

import math
from collections.abc import Sequence

import numpy as np

from app.domain.estimate import LEVEL, Counted, Estimate
from app.statistics import reasons
from app.statistics.clusters import Array, geometric_mean, influence_error, influences, too_few
from app.statistics.student import quantile


def share_difference(
    a: tuple[Array, Array],
    b: tuple[Array, Array],
    *,
    counted: Counted = "parallel pairs",
) -> Estimate:
    """Share of A minus share of B, each (numerator, denominator) per pair, from the differences of what a pair adds to either share."""
    n = len(a[0])
    if any(float(denominator.sum()) == 0 for _, denominator in (a, b)):
        return Estimate(point=None, n=n, counted=counted, reason=reasons.nothing_to_divide_by())
    point = float(a[0].sum() / a[1].sum() - b[0].sum() / b[1].sum())
    carrying = int(((a[1] > 0) | (b[1] > 0)).sum())
    reason = too_few(min(carrying, int((a[1] > 0).sum()), int((b[1] > 0).sum())))
    error = 0.0 if reason else influence_error(_share_influences(*a) - _share_influences(*b))
    if reason is None and error <= 1e-12:
        reason = reasons.no_spread()
    if reason is not None:
        return Estimate(point=point, n=n, counted=counted, reason=reason)
    half = quantile(LEVEL, carrying - 1) * error
    # A difference of shares cannot leave [−1, 1].
    return Estimate(point=point, low=max(point - half, -1.0), high=min(point + half, 1.0), n=n, counted=counted)


def _share_influences(numerator: Array, denominator: Array) -> Array:
    total = float(denominator.sum())
    return (numerator - denominator * (float(numerator.sum()) / total)) / total


def product_quotient(a: Sequence[tuple[Array, int]], b: Sequence[tuple[Array, int]], *, counted: Counted = "parallel pairs") -> Estimate:
    """A ÷ B of two figures of the form Π (Σ term)^exponent, on the log, from the differences of influences."""
    n = len(a[0][0])
    terms = [*a, *((values, -power) for values, power in b)]
    sums = [(float(values.sum()), power) for values, power in terms]
    if any(total == 0 for total, _ in sums):
        return Estimate(point=None, n=n, counted=counted, reason=reasons.nothing_to_divide_by())
    point = math.prod(total**power for total, power in sums)
    carrying = min(int((values > 0).sum()) for values, power in [*a, *b] if power < 0)
    reason = too_few(carrying)
    error = 0.0 if reason else influence_error(influences(terms))
    if reason is None and error <= 1e-12:
        reason = reasons.no_spread()
    if reason is not None:
        return Estimate(point=point, n=n, counted=counted, reason=reason)
    half = quantile(LEVEL, carrying - 1) * error
    return Estimate(point=point, low=point * math.exp(-half), high=point * math.exp(half), n=n, counted=counted)


def quotient_of_pairs(a: Array, b: Array, *, counted: Counted = "parallel pairs") -> Estimate:
    """The geometric mean of A ÷ B where each run already has one ratio per pair (a speed-up of each prompt)."""
    return geometric_mean(np.asarray(a) / np.asarray(b), counted=counted)
