"""Seconds of what a service does, over rounds."""

from collections.abc import Callable, Sequence
from statistics import quantiles
from time import perf_counter

from app.domain.estimate import Estimate
from app.statistics.clusters import geometric_mean

now = perf_counter
# The fewest rounds that give an interval are 6.
ROUNDS = 8


def over_rounds(values: Sequence[float]) -> Estimate:
    """The geometric mean over rounds, with t on the log."""
    return geometric_mean(values, counted="rounds")


def seconds(do: Callable[[], object]) -> float:
    began = now()
    do()
    return now() - began


def quantile(values: Sequence[float], percent: int) -> float:
    """Of one round; linear between neighbours."""
    return quantiles(values, n=100, method="inclusive")[percent - 1]
