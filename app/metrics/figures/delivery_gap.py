"""Time between deliveries, with the tokens each brings: under speculation several tokens arrive at once, so a gap per token would be 0."""

from app.domain.estimate import Estimate
from app.domain.sentence import plain
from app.metrics.base import Metric, Reading
from app.metrics.distribution import NO_INTERVAL, quantiles
from app.metrics.frame import Frames
from app.metrics.select import deliveries, timed, why_untimed
from app.metrics.sums import missing, total
from app.metrics.terms import ARMS


def _compute(frames: Frames) -> list[Reading]:
    found: list[Reading] = []
    for arm in ARMS:
        rows = timed(frames, arm)
        gaps = deliveries(frames, arm)
        if rows.empty or gaps.empty:
            why = why_untimed(frames, arm) if rows.empty else plain("No request was delivered in more than one piece.")
            found.append(missing(why, {"arm": arm}))
            continue
        rounds, emitted = total(rows, "rounds"), total(rows, "emitted")
        found += quantiles(gaps["gap"], {"arm": arm}, n=len(rows), rounds=rounds, emitted=emitted)
        tokens = Estimate(point=float(gaps["tokens"].mean()), n=len(rows), counted="requests", scope="these prompts", reason=NO_INTERVAL)
        found.append(Reading(tokens, part={"arm": arm, "of": "tokens per delivery"}, rounds=rounds, emitted=emitted, unit="tokens"))
    return found


METRIC = Metric(
    id="delivery_gap",
    order=170,
    unit="seconds",
    better="lower",
    formula="time between successive deliveries of a request; p50, p95, p99; tokens per delivery beside it",
    compute=_compute,
    speed=True,
)
