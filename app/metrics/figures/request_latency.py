"""Whole time of a request; the clock starts before sending."""

from app.metrics.base import Metric
from app.metrics.distribution import PerRequest

METRIC = Metric(
    id="request_latency",
    order=190,
    unit="seconds",
    better="lower",
    formula="last_at − sent_at (in open load − planned_at); p50, p95, p99 over requests",
    compute=PerRequest(lambda rows: rows["seconds"], from_arrival=True),
    speed=True,
)
