"""What verifying n drafts in one forward takes, in plain decode steps over as many sequences."""

from app.metrics.base import Metric
from app.metrics.costs import by_shape

METRIC = Metric(
    id="verify_cost",
    order=260,
    unit="ratio",
    better="lower",
    formula="mean seconds of a forward over n drafts and the token before them ÷ mean plain decode step, both over s sequences",
    compute=lambda frames: by_shape(frames, "verify"),
    speed=True,
)
