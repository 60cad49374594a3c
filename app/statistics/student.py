"""Student's t without scipy.stats' machinery, which costs more than the estimates it serves."""

from scipy.special import stdtr, stdtrit


def quantile(level: float, freedom: int) -> float:
    """The two-sided critical value: P(|T| ≤ q) = level with `freedom` degrees of freedom."""
    return float(stdtrit(freedom, 0.5 + level / 2))


def upper_tail(value: float, freedom: int) -> float:
    """P(T > value)."""
    return float(stdtr(freedom, -value))
