"""Delivered tokens per second of the whole bench under closed load, speculative ÷ plain."""

from app.metrics import load
from app.metrics.base import Metric

METRIC = Metric(
    id="speedup_throughput",
    order=145,
    unit="ratio",
    formula="exp of the mean over trial pairs of log(speculative ÷ plain tokens per second of the steady window, first refill to first idle slot)",
    compute=load.speedup,
    speed=True,
    loads=("closed",),
)
