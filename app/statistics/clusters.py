"""Shares and ratios of sums over clusters (prompts), by linearised residuals (the delta method), t with n − 1.

Source: Cochran, Sampling Techniques (3rd ed. 1977), § 6.3 for the variance of a ratio of sums; on the logit for shares, on the log for ratios.
The percentile bootstrap over the same clusters covers too little when they are few (tests/app/statistics holds both against simulation).
Arrays are float, one entry a cluster, `[n]`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.domain.estimate import LEVEL, Counted, Estimate
from app.domain.sentence import Sentence
from app.statistics import reasons
from app.statistics.student import quantile

Array = NDArray[np.float64]


def residual_error(numerator: Array, denominator: Array) -> float:
    """The standard error of Σ numerator ÷ Σ denominator over clusters. Clusters without a denominator tell nothing and are not counted."""
    carrying = denominator > 0
    m = int(carrying.sum())
    residuals = (numerator - denominator * (numerator.sum() / denominator.sum()))[carrying]
    return math.sqrt(m / (m - 1) * float(residuals @ residuals)) / float(denominator.sum())


def too_few(carrying: int, *, totals: bool = False, counted: Counted = "prompts") -> Sentence | None:
    """Why that many clusters give no interval, or None when they are enough."""
    if counted == "trial pairs":
        return reasons.few_trial_pairs(carrying) if carrying < reasons.FEWEST_TRIAL_PAIRS else None
    if counted == "blocks":
        return reasons.few_blocks(carrying) if carrying < reasons.FEWEST_BLOCKS else None
    if totals:
        return reasons.totals_only()
    if carrying == 1:
        return reasons.one_request()
    if carrying >= reasons.FEWEST_CLUSTERS:
        return None
    return reasons.few_requests(carrying) if counted == "requests" else reasons.few(carrying)


@dataclass(frozen=True)
class Base:
    """What an estimate rests on: `carrying` clusters of all that there were."""

    carrying: int
    all: int
    counted: Counted

    def estimate(self, point: float | None, low: float | None = None, high: float | None = None, *, reason: Sentence | None = None) -> Estimate:
        of = self.all if self.all > self.carrying else None
        return Estimate(point=point, low=low, high=high, n=self.carrying, of=of, counted=self.counted, reason=reason)


def _prepare(
    numerator: Sequence[float] | Array, denominator: Sequence[float] | Array, counted: Counted, totals: int | None
) -> tuple[Array, Array, int, Base]:
    """Both as arrays, the clusters with something to divide by, and what the estimate says of them: of totals the requests behind their one row."""
    x, y = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    carrying = int((y > 0).sum())
    return x, y, carrying, Base(carrying, len(x), counted) if totals is None else Base(totals, totals, "requests")


def share(
    numerator: Sequence[float] | Array, denominator: Sequence[float] | Array, *, counted: Counted = "prompts", totals: int | None = None
) -> Estimate:
    """Σ numerator ÷ Σ denominator, both of the same things (0 ≤ numerator ≤ denominator), with an interval on the logit.

    `totals` is the number of requests behind a single row of totals. A share of exactly 0 or 1 has no logit, so it has no interval.
    """
    x, y, carrying, base = _prepare(numerator, denominator, counted, totals)
    if carrying == 0:
        return base.estimate(None, reason=reasons.nothing_to_divide_by())
    p = float(x.sum() / y.sum())
    reason = too_few(carrying, totals=totals is not None, counted=counted) or (reasons.boundary() if p in (0.0, 1.0) else None)
    error = 0.0 if reason else residual_error(x, y)
    if reason is None and _none(error, p):
        reason = _no_spread(counted)
    if reason is not None:
        return base.estimate(p, reason=reason)
    middle, half = math.log(p / (1 - p)), quantile(LEVEL, carrying - 1) * error / (p * (1 - p))
    low, high = (1 / (1 + math.exp(-min(max(v, -700.0), 700.0))) for v in (middle - half, middle + half))
    return base.estimate(p, min(low, p), max(high, p))


def ratio(
    numerator: Sequence[float] | Array,
    denominator: Sequence[float] | Array,
    *,
    offset: float = 0.0,
    counted: Counted = "prompts",
    totals: int | None = None,
) -> Estimate:
    """offset + Σ numerator ÷ Σ denominator, with an interval on the log of the quotient, so that it never falls to `offset` or below it."""
    x, y, carrying, base = _prepare(numerator, denominator, counted, totals)
    if carrying == 0:
        return base.estimate(None, reason=reasons.nothing_to_divide_by())
    quotient = float(x.sum() / y.sum())
    reason = too_few(carrying, totals=totals is not None, counted=counted) or (reasons.nothing_counted() if quotient <= 0 else None)
    error = 0.0 if reason else residual_error(x, y)
    if reason is None and _none(error, quotient):
        reason = _no_spread(counted)
    if reason is not None:
        return base.estimate(offset + quotient, reason=reason)
    half = quantile(LEVEL, carrying - 1) * error / quotient
    return base.estimate(offset + quotient, offset + quotient * math.exp(-half), offset + quotient * math.exp(half))


def product(terms: Sequence[tuple[Array, int]], *, counted: Counted = "prompts") -> Estimate:
    """Π (Σ term)^exponent over the same clusters, with an interval on the log: for figures made of more than one quotient."""
    carrying = int(np.all([values > 0 for values, power in terms if power < 0], axis=0).sum())
    base = Base(carrying, len(terms[0][0]), counted)
    sums = [float(values.sum()) for values, _ in terms]
    if any(total == 0 and power < 0 for total, (_, power) in zip(sums, terms, strict=True)):
        return base.estimate(None, reason=reasons.nothing_to_divide_by())
    point = math.prod(total**power for total, (_, power) in zip(sums, terms, strict=True))
    reason = too_few(carrying, counted=counted) or (reasons.nothing_counted() if point == 0 else None)
    if reason is not None:
        return base.estimate(point, reason=reason)
    error = influence_error(influences(terms), carrying)
    if _none(error, 1.0):
        return base.estimate(point, reason=_no_spread(counted))
    half = quantile(LEVEL, carrying - 1) * error
    return base.estimate(point, point * math.exp(-half), point * math.exp(half))


def influences(terms: Sequence[tuple[Array, int]]) -> Array:
    """What each cluster adds to log Π (Σ term)^exponent, to first order; they sum to about 0. `[n]`"""
    n = len(terms[0][0])
    total = np.zeros(n)
    for values, power in terms:
        total = total + power * (values / values.sum() - 1 / n)
    return total


def influence_error(influence: Array, carrying: int) -> float:
    """The standard error of a statistic from its influences, of which `carrying` clusters hold something: √(m/(m−1) Σ u²)."""
    centred = influence - influence.mean()
    return math.sqrt(carrying / (carrying - 1) * float(centred @ centred))


def mean_share(values: Sequence[float] | Array, *, counted: Counted = "prompts") -> Estimate:
    """The mean of one share per cluster (macro), with an interval on the logit."""
    found = np.asarray(values, dtype=np.float64)
    return share(found, np.ones_like(found), counted=counted)


def geometric_mean(values: Sequence[float] | Array, *, least: float = 0.0, counted: Counted = "prompts") -> Estimate:
    """The geometric mean of one positive ratio per cluster (macro), with t on the log; of ratios that are never below `least`, which is 1 or nothing,
    on the log of the mean log, so that no interval falls below it either."""
    found = np.asarray(values, dtype=np.float64)
    n = len(found)
    if n == 0:
        return Estimate(point=None, n=0, counted=counted, reason=reasons.nothing_to_divide_by())
    if (found <= 0).any():
        return Estimate(point=None, n=n, counted=counted, reason=reasons.nothing_counted())
    logs = np.log(found)
    middle = float(logs.mean())
    point = math.exp(middle)
    reason = too_few(n, counted=counted) or (reasons.nothing_counted() if least == 1 and middle <= 0 else None)
    error = 0.0 if reason else float(logs.std(ddof=1)) / math.sqrt(n)
    if reason is None and _none(error, 1.0):
        reason = _no_spread(counted)
    if reason is not None:
        return Estimate(point=point, n=n, counted=counted, reason=reason)
    half = quantile(LEVEL, n - 1) * error
    low, high = (middle * math.exp(side * half / middle) for side in (-1, 1)) if least == 1 else (middle - half, middle + half)
    return Estimate(point=point, low=math.exp(low), high=math.exp(min(high, 700.0)), n=n, counted=counted)


def _no_spread(counted: Counted) -> Sentence:
    if counted == "requests":
        return reasons.no_spread_of_requests()
    return reasons.no_spread_of_trials() if counted in ("trial pairs", "blocks") else reasons.no_spread()


def _none(error: float, scale: float) -> bool:
    # Equal clusters leave rounding behind, not spread.
    return error <= 1e-12 * abs(scale)
