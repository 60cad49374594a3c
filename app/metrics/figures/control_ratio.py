"""Whether the plain arm is slow: the library's own generate against it, in the same passes. Above 1 the plain arm is the faster one."""

from app.metrics.base import Metric, Reading
from app.metrics.frame import Frames
from app.metrics.select import paired, why_untimed
from app.metrics.sums import missing
from app.statistics.pairs import speedup


def _compute(frames: Frames) -> list[Reading]:
    rows = paired(frames, "control", "plain")
    if rows.empty:
        return [missing(why_untimed(frames, "control"))]
    means = rows.groupby("prompt")[["seconds_control", "seconds_plain"]].mean()
    return [Reading(speedup(means["seconds_control"].to_numpy(), means["seconds_plain"].to_numpy()), rounds=0)]


METRIC = Metric(
    id="control_ratio",
    order=240,
    unit="ratio",
    formula="exp of the mean over prompts of log(mean control seconds ÷ mean plain seconds)",
    compute=_compute,
    speed=True,
)
