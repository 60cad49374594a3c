"""Speed in tokens, characters and words per second; only characters compare across languages."""

from app.domain.estimate import Estimate, Unit
from app.domain.sentence import plain
from app.metrics.base import Metric, Reading
from app.metrics.distribution import ARMS
from app.metrics.frame import Frames
from app.metrics.select import LEAST_SECONDS, timed, why_untimed
from app.metrics.sums import missing, total

_OF: dict[str, tuple[str, Unit]] = {
    "tokens": ("emitted", "tokens_per_second"),
    "characters": ("output_characters", "characters_per_second"),
    "words": ("output_words", "words_per_second"),
}
# Prompts of one run share what the machine did meanwhile, which no spread over prompts shows (definitions § 3).
_NO_INTERVAL = plain("No interval: an absolute speed shares the machine's state of the hour; the speed-up is measured in pairs and has one.")


def _compute(frames: Frames) -> list[Reading]:
    found: list[Reading] = []
    for arm in ARMS:
        rows = timed(frames, arm)
        seconds = float(rows["seconds"].sum())
        if rows.empty or seconds <= LEAST_SECONDS:
            why = why_untimed(frames, arm) if rows.empty else plain("The requests took no time that a clock could tell.")
            found.append(missing(why, {"arm": arm}))
            continue
        for of, (column, unit) in _OF.items():
            rate = Estimate(
                point=float(rows[column].sum()) / seconds, n=rows["prompt"].nunique(), counted="prompts", scope="these prompts", reason=_NO_INTERVAL
            )
            found.append(Reading(rate, part={"arm": arm, "of": of}, rounds=total(rows, "rounds"), emitted=total(rows, "emitted"), unit=unit))
    return found


METRIC = Metric(
    id="throughput",
    order=150,
    unit="tokens_per_second",
    formula="Σ tokens, Σ characters, Σ words ÷ Σ seconds of requests (one request at a time)",
    compute=_compute,
    speed=True,
)
