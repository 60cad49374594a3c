"""Latency of plain ÷ latency of the speculative arm at the same planned arrivals, so that above 1 speculation is better as in every headline."""

import numpy as np

from app.metrics.arrivals import stability, trial_pairs, trials_of, unstable, why_no_pair
from app.metrics.base import Metric, Part, Reading
from app.metrics.distribution import QUANTILES, few_values
from app.metrics.frame import Frames
from app.metrics.select import counted, why_untimed
from app.metrics.sums import missing, total
from app.metrics.terms import ARMS
from app.statistics.pairs import latency_speedup

# The median is the headline; the p95 stands beside it.
_PARTS: tuple[tuple[str, Part], ...] = (("p50", {}), ("p95", {"quantile": "p95"}))


def _compute(frames: Frames) -> list[Reading]:
    for arm in ARMS:
        if trials_of(frames, arm).empty:
            return [missing(why_untimed(frames, arm), part) for _, part in _PARTS]
    if why := next(iter(unstable(frames).values()), None):
        return [missing(why, part) for _, part in _PARTS]
    pairs, rows = trial_pairs(frames), counted(frames)
    if pairs.empty or any(stability(frames, arm) is None for arm in ARMS):
        return [missing(why_no_pair(frames), part) for _, part in _PARTS]
    rounds, emitted = total(rows, "rounds"), total(rows, "emitted")
    n = int(np.minimum(pairs["requests_plain"], pairs["requests_speculative"]).min())
    found = []
    for name, part in _PARTS:
        if n < QUANTILES[name][1]:
            found.append(missing(few_values(name, n), part))
            continue
        plain, speculative = (pairs[f"{name}_{arm}"].to_numpy(dtype=float) for arm in ARMS)
        found.append(Reading(latency_speedup(plain, speculative), part=part, rounds=rounds, emitted=emitted))
    return found


METRIC = Metric(
    id="latency_ratio",
    order=147,
    unit="ratio",
    formula="exp of the mean over trial pairs of log(plain ÷ speculative request_latency) at the same planned arrivals; of the p50, and of the p95",
    compute=_compute,
    speed=True,
    loads=("open",),
)
