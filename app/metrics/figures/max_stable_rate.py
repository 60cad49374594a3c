"""The rate beyond which requests pile up. One run shows it only where they did: below it, an arm serves what comes and not what it could."""

from app.domain.estimate import Estimate
from app.domain.sentence import Quantity, plain
from app.metrics.arrivals import capacity, stability
from app.metrics.base import Metric, Reading
from app.metrics.frame import Frames
from app.metrics.select import timed, why_untimed
from app.metrics.sums import missing, total
from app.metrics.terms import ARMS

_NO_INTERVAL = plain("No interval: an absolute rate shares the machine's state of the hour.")


def _compute(frames: Frames) -> list[Reading]:
    return [_of(frames, arm) for arm in ARMS]


def _of(frames: Frames, arm: str) -> Reading:
    seen, part = stability(frames, arm), {"arm": arm}
    if seen is None:
        return missing(why_untimed(frames, arm), part)
    if seen.stable:
        rate = Quantity(kind="asked_rate", value=frames.load.rate or 0.0)
        return missing(plain("Requests did not pile up at %(rate)s, so the highest rate that it bears was not reached.", rate=rate), part)
    found, n = capacity(frames, arm)
    if found is None:
        return missing(plain("No request had to wait for a slot, so what is served at most does not show."), part)
    rows = timed(frames, arm)
    estimate = Estimate(point=found, n=n, counted="requests", scope="these prompts", reason=_NO_INTERVAL)
    return Reading(estimate, part=part, rounds=total(rows, "rounds"), emitted=total(rows, "emitted"))


METRIC = Metric(
    id="max_stable_rate",
    order=152,
    unit="requests_per_second",
    formula="where requests pile up: admissions ÷ seconds between two of them, over gaps throughout which another request waited",
    compute=_compute,
    speed=True,
    loads=("open",),
)
