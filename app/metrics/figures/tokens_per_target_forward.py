"""The ceiling of a scheme: tokens delivered by one forward of the target, steps without a draft counted."""

from collections.abc import Sequence

import pandas as pd

from app.metrics.base import Metric, Reading, Sums
from app.metrics.counters import told
from app.metrics.counting import NO_STEP
from app.metrics.frame import Frames
from app.metrics.sums import over_prompts, reading, unavailable

NEEDS = ("emitted", "prefill_tokens", "rounds", "undrafted")


def _beyond_one(rows: pd.DataFrame) -> Sequence[pd.Series]:
    """Every step delivers a token; what is above that are drafts (definitions § 1: E − P − R − U = A − discarded_bonus)."""
    steps = rows["rounds"] + rows["undrafted"]
    return rows["emitted"] - rows["prefill_tokens"] - steps, steps


def _compute(frames: Frames) -> list[Reading]:
    known = told(frames, NEEDS)
    absent = unavailable(known, NEEDS)
    # 1 is added after the interval is made, so that no interval falls below 1.
    return [absent] if absent else [reading(sums, "ratio", known, nothing=NO_STEP, offset=1.0) for sums in over_prompts(known, _beyond_one)]


def _sums(frames: Frames) -> list[Sums]:
    if unavailable(frames, NEEDS):
        return []
    return over_prompts(frames, lambda rows: (rows["emitted"] - rows["prefill_tokens"], rows["rounds"] + rows["undrafted"]))


METRIC = Metric(
    id="tokens_per_target_forward",
    order=50,
    unit="tokens",
    formula="(ΣE − ΣP) / Σ(R + U)",
    compute=_compute,
    needs=NEEDS,
    scale="ratio",
    sums=_sums,
)
