"""What speculation needs in memory beyond plain decoding, weights and KV cache apart."""

import pandas as pd

from app.domain.estimate import Estimate
from app.domain.sentence import plain
from app.metrics.base import Metric, Part, Reading
from app.metrics.costs import NO_PROFILE
from app.metrics.frame import Frames
from app.metrics.sums import missing

UNREAD = plain("On this device the high-water mark of memory cannot be told apart by arm.")
NO_INTERVAL = plain("No interval: a high-water mark is read once an arm.")
PARTS: dict[str, Part] = {"peak_bytes": {}, "weight_bytes": {"of": "weights"}, "cache_bytes": {"of": "KV cache"}}


def _compute(frames: Frames) -> list[Reading]:
    trials = frames.trials[frames.trials["purpose"] == "profile"]
    if trials.empty:
        return [missing(NO_PROFILE)]
    speculative, without = trials[trials["arm"] == "speculative"], trials[trials["arm"] == "plain"]
    return [_more(speculative, without, column, part) for column, part in PARTS.items()]


def _more(speculative: pd.DataFrame, without: pd.DataFrame, column: str, part: Part) -> Reading:
    needed, least = speculative[column].max(), without[column].max()
    if pd.isna(needed) or pd.isna(least):
        return missing(UNREAD, part)
    point = float(needed - least)
    return Reading(Estimate(point=point, n=1, counted="runs", scope="these prompts", reason=NO_INTERVAL), part=part)


METRIC = Metric(
    id="memory_overhead",
    order=290,
    unit="bytes",
    better="lower",
    formula="peak bytes of the speculative arm − peak bytes of the plain arm, in the profiled trial; weights and KV cache apart",
    compute=_compute,
)
