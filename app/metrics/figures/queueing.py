"""Time between a request's planned arrival and its slot: the part of its latency that others cause."""

from app.metrics.base import Metric
from app.metrics.distribution import PerRequest

METRIC = Metric(
    id="queueing",
    order=195,
    unit="seconds",
    better="lower",
    formula="sent_at − planned_at; p50, p95, p99 over requests",
    compute=PerRequest(lambda rows: rows["queueing"], on_prompts=True, from_arrival=True),
    speed=True,
    loads=("open",),
)
