"""Time to the first token; the clock starts before sending."""

from app.metrics.base import Metric
from app.metrics.distribution import PerRequest

METRIC = Metric(
    id="ttft",
    order=180,
    unit="seconds",
    better="lower",
    formula="first_at − sent_at (in open load − planned_at); p50, p95, p99 over requests",
    compute=PerRequest(lambda rows: rows["ttft"], on_prompts=True, from_arrival=True),
    speed=True,
)
