"""How far the speed-up of a stretch of text lies from that of another: the largest of many is no speed-up of anything."""

import numpy as np

from app.domain.estimate import Estimate
from app.domain.sentence import plain
from app.metrics.base import Metric, Reading
from app.metrics.frame import Frames
from app.metrics.select import counted
from app.metrics.spans import LEAST_TOKENS, spans
from app.metrics.speed import why_unpaired
from app.metrics.sums import missing, total

# As of every quantile, one window must lie beyond it on average.
QUANTILES = {"p5": (0.05, 20), "p50": (0.5, 2), "p95": (0.95, 20)}
DRAWN = plain("Drawn answers differ from plain's, so there are no same positions to compare.")
NONE = plain("No answer that is equal in both arms is long enough for a window of %(tokens)s.", tokens=LEAST_TOKENS)
NO_INTERVAL = plain("No interval: a quantile describes the windows that were measured.")


def _compute(frames: Frames) -> list[Reading]:
    if frames.sampled:
        return [missing(DRAWN)]
    found = spans(frames)["speedup"].to_numpy(dtype=float)
    if not len(found):
        untimed = any(not len(counted(frames, arm)) for arm in ("plain", "speculative"))
        return [missing(why_unpaired(frames) if untimed else NONE)]
    rows = counted(frames)
    return [_quantile(found, name, total(rows, "rounds"), total(rows, "emitted")) for name in QUANTILES]


def _quantile(values: "np.ndarray[tuple[int], np.dtype[np.float64]]", name: str, rounds: int | None, emitted: int | None) -> Reading:
    share, least = QUANTILES[name]
    if len(values) < least:
        few = plain("%(quantile)s needs %(least)s values, there are %(n)s.", quantile=name, least=least, n=len(values))
        return missing(few, {"quantile": name})
    point = float(np.quantile(values, share))
    pooled = Estimate(point=point, n=len(values), counted="windows", scope="these prompts", reason=NO_INTERVAL)
    return Reading(pooled, part={"quantile": name}, rounds=rounds, emitted=emitted)


METRIC = Metric(
    id="window_speedup",
    order=142,
    unit="ratio",
    formula="p5, p50, p95 over disjoint windows (fewest whole steps that deliver ≥ 32 tokens) of plain ÷ speculative median seconds for them",
    compute=_compute,
    speed=True,
    loads=("single",),
)
