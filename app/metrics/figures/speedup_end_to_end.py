"""Whole time of a request, plain ÷ speculative: what a user gets."""

from app.metrics import speed
from app.metrics.base import Metric

METRIC = Metric(
    id="speedup_end_to_end",
    order=130,
    unit="ratio",
    formula="exp of the mean over prompts of log(mean plain seconds ÷ mean speculative seconds), pairs measured back to back",
    compute=speed.end_to_end,
    scale="ratio",
    pairs=speed.whole_series,
    speed=True,
)
