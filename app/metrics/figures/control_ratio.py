"""Whether the plain arm is slow: the library's own generate against it, in the same passes. Above 1 the plain arm is the faster one.

Where the two answers differ in length (drawn ones, near ties in half precision) time per token is compared, as in the headline.
"""

from app.metrics.base import Metric, Reading
from app.metrics.frame import Frames
from app.metrics.select import paired, why_untimed
from app.metrics.speed import decode_pairs, same_lengths
from app.metrics.sums import missing
from app.statistics.pairs import speedup


def _compute(frames: Frames) -> list[Reading]:
    rows = paired(frames, "control", "plain")
    if rows.empty:
        return [missing(why_untimed(frames, "control"))]
    if same_lengths(frames, "control", "plain"):
        table = rows.groupby("prompt")[["seconds_control", "seconds_plain"]].mean()
    else:
        table = decode_pairs(frames, "control", "plain")
    return [Reading(speedup(table.iloc[:, 0].to_numpy(), table.iloc[:, 1].to_numpy()), rounds=0)]


METRIC = Metric(
    id="control_ratio",
    order=240,
    unit="ratio",
    formula="exp of the mean over prompts of log(mean control seconds ÷ mean plain seconds); per token where answers differ in length",
    compute=_compute,
    speed=True,
)
