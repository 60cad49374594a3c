"""Tokens delivered by one forward over the whole batch: what batching adds to speculation."""

import pandas as pd

from app.domain.estimate import Estimate
from app.domain.sentence import plain
from app.metrics.base import Metric, Reading
from app.metrics.frame import Frames
from app.metrics.select import counted
from app.metrics.sums import missing, total, unavailable
from app.statistics import reasons

NEEDS = ("emitted", "prefill_tokens")


def _compute(frames: Frames) -> list[Reading]:
    absent = unavailable(frames, NEEDS)
    if absent:
        return [absent]
    rows = counted(frames)
    forwards = _forwards(frames, rows)
    if forwards is None or forwards == 0:
        return [missing(plain("The forwards of the trial were not counted."))]
    tokens = float((rows["emitted"] - rows["prefill_tokens"]).sum())
    pooled = Estimate(point=tokens / forwards, n=len(rows), counted="requests", scope="these prompts", reason=reasons.totals_only())
    return [Reading(pooled, rounds=total(rows, "rounds"), emitted=total(rows, "emitted"))]


def _forwards(frames: Frames, rows: pd.DataFrame) -> float | None:
    trials = frames.trials
    own = trials[(trials["arm"] == "speculative") & (trials["purpose"] == "headline") & trials["trial"].isin(rows["trial"].unique())]
    # An attempt that broke off has requests whose trial was never closed.
    whole = set(own["trial"]) == set(rows["trial"]) and not own.empty and not own["forwards"].isna().any()
    return float(own["forwards"].sum()) if whole else None


METRIC = Metric(
    id="tokens_per_forward_all",
    order=60,
    unit="tokens",
    formula="(ΣE − ΣP) / forwards of the trial, all requests together",
    compute=_compute,
    needs=NEEDS,
)
