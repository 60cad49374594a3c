"""Several drafters weighed together are a family: the more are tried, the likelier one of them seems to pay by chance."""

import math
from collections.abc import Sequence

from app.domain.estimate import Estimate
from app.statistics.student import quantile, upper_tail


def p_pays(speedup: Estimate, margin: float) -> float:
    """One-sided p of "the speed-up is at most 1 + margin", read back from an interval that is t on the log. Raises ValueError without one."""
    if speedup.point is None or speedup.low is None or speedup.high is None:
        raise ValueError("an estimate without an interval has no p")
    freedom = speedup.n - 1
    error = math.log(speedup.high / speedup.low) / (2 * quantile(speedup.level, freedom))
    return upper_tail(math.log(speedup.point / (1 + margin)) / error, freedom)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given (Holm, Scand. J. Statist. 6 (1979) 65–70)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = running
    return adjusted


def still_pay(family: Sequence[tuple[Estimate, float]]) -> list[bool]:
    """Which (speed-up, margin) of a family still pay: Holm at the one-sided level of the two-sided interval. Each must carry an interval."""
    adjusted = holm([p_pays(speedup, margin) for speedup, margin in family])
    return [p < (1 - speedup.level) / 2 for p, (speedup, _) in zip(adjusted, family, strict=True)]
