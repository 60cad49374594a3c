"""What a proposal of n drafts takes, in plain decode steps over as many sequences."""

from app.metrics.base import Metric
from app.metrics.costs import by_shape

METRIC = Metric(
    id="draft_cost",
    order=250,
    unit="ratio",
    better="lower",
    formula="mean seconds of one proposal of n tokens ÷ mean plain decode step, both over s sequences; mixed drafts count as their longest",
    also_printed_as="Leviathan's c is draft_cost[1, n] / n",
    compute=lambda frames: by_shape(frames, "draft"),
    speed=True,
)
