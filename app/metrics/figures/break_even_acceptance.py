"""The acceptance at which a round is worth what it costs; nothing is assumed about how acceptance is spread over positions."""

from app.domain.estimate import Estimate
from app.domain.sentence import Quantity, Sentence, plain
from app.metrics.base import Metric, Reading
from app.metrics.costs import NO_INTERVAL, Costs, needed, usual_round, why_no_costs, why_unlisted
from app.metrics.counting import NO_DRAFT
from app.metrics.frame import Frames
from app.metrics.select import counted
from app.metrics.sums import missing, total, unavailable
from app.metrics.trees import BAR_OF_CHAINS, branched

NEEDS = ("drafted", "rounds")


def _compute(frames: Frames) -> list[Reading]:
    absent = unavailable(frames, NEEDS)
    if absent:
        return [absent]
    if branched(frames):
        return [missing(BAR_OF_CHAINS)]
    if (reason := why_no_costs(frames) or why_unlisted(frames)) is not None:
        return [missing(reason)]
    rows, usual = counted(frames), usual_round(frames)
    if usual is None:
        return [missing(NO_DRAFT)]
    drafts, sequences = usual
    cost = Costs.of(frames).round(sequences, drafts)
    if cost is None:
        said = plain(
            "The costs of %(drafts)s drafts over %(sequences)s sequences were not profiled often enough.",
            drafts=Quantity(kind="number", value=drafts),
            sequences=sequences,
        )
        return [missing(said)]
    point = needed(cost, drafts)
    drafted, asked = rows.loc[rows["rounds"] > 0, "prompt"].nunique(), rows["prompt"].nunique()
    pooled = Estimate(
        point=point,
        n=drafted,
        of=asked if asked > drafted else None,
        counted="prompts",
        scope="these prompts",
        reason=NO_INTERVAL if point <= 1 else _never(cost, drafts),
    )
    return [Reading(pooled, rounds=total(rows, "rounds"), emitted=total(rows, "emitted"))]


def _never(cost: float, drafts: float) -> Sentence:
    return plain(
        "Cannot pay at any acceptance: a round costs %(cost)s plain steps and can give %(most)s tokens at most.",
        cost=Quantity(kind="number", value=cost),
        most=Quantity(kind="number", value=1 + drafts),
    )


METRIC = Metric(
    id="break_even_acceptance",
    order=280,
    unit="share",
    better="lower",
    formula="(draft_cost[s, n̄] + verify_cost[s, n̄] − 1) ÷ n̄ with n̄ = ΣD / ΣR s as in most rounds; above 1: cannot pay at any acceptance",
    compute=_compute,
    needs=NEEDS,
    speed=True,
)
