"""The speed-up that counts and costs of stages foretell. Beside the measured one it shows what stands outside of the forwards."""

import pandas as pd

from app.domain.estimate import Estimate
from app.domain.sentence import Quantity, plain
from app.metrics.base import Metric, Reading
from app.metrics.costs import NO_INTERVAL, Costs, why_no_costs, why_unlisted
from app.metrics.counting import NO_STEP
from app.metrics.frame import Frames
from app.metrics.select import counted, counted_rounds
from app.metrics.sums import missing, total, unavailable

NEEDS = ("emitted", "prefill_tokens", "undrafted", "rounds")
# Of the rounds, those whose cost must be known; the rest are priced at the mean of these.
LEAST_KNOWN = 0.9


def _compute(frames: Frames) -> list[Reading]:
    absent = unavailable(frames, NEEDS)
    if absent:
        return [absent]
    if (reason := why_no_costs(frames) or why_unlisted(frames)) is not None:
        return [missing(reason)]
    rows, rounds = counted(frames), counted_rounds(frames)
    known, steps = _price(Costs.of(frames), rounds)
    if known < LEAST_KNOWN * len(rounds):
        share = Quantity(kind="share", value=known / len(rounds))
        return [missing(plain("Only %(known)s of the rounds have a shape that was profiled often enough.", known=share))]
    steps = (steps * len(rounds) / known if known else 0.0) + float(rows["undrafted"].sum())
    if steps == 0:
        return [missing(NO_STEP)]
    tokens = float((rows["emitted"] - rows["prefill_tokens"]).sum())
    pooled = Estimate(point=tokens / steps, n=rows["prompt"].nunique(), counted="prompts", scope="these prompts", reason=NO_INTERVAL)
    return [Reading(pooled, rounds=total(rows, "rounds"), emitted=total(rows, "emitted"))]


def _price(costs: Costs, rounds: pd.DataFrame) -> tuple[float, float]:
    """How many rounds have a known cost, and their plain steps together."""
    shapes = rounds.groupby(["slots", "drafted"], as_index=False)["rounds"].sum()
    known, steps = 0.0, 0.0
    for slots, drafted, times in shapes[["slots", "drafted", "rounds"]].to_numpy():
        if (price := costs.round(int(slots), float(drafted))) is not None:
            known, steps = known + times, steps + price * times
    return known, steps


METRIC = Metric(
    id="predicted_speedup",
    order=270,
    unit="ratio",
    formula="(ΣE − ΣP) ÷ (Σ over rounds (draft_cost[s, n] + verify_cost[s, n]) + U); numbers of drafts in between by a straight line",
    compute=_compute,
    needs=NEEDS,
    speed=True,
)
