"""Seconds per token after the first, by request."""

from app.metrics.base import Metric
from app.metrics.distribution import PerRequest

METRIC = Metric(
    id="time_per_output_token",
    order=160,
    unit="seconds",
    better="lower",
    formula="(last_at − first_at) / (E − 1) of a request; p50, p95, p99 over requests",
    compute=PerRequest(lambda rows: (rows["decode_seconds"] / (rows["emitted"] - 1))[rows["emitted"] > 1]),
    speed=True,
)
