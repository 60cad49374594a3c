"""Speed in tokens, characters and words per second; only characters compare across languages."""

import math

import pandas as pd

from app.domain.estimate import Estimate, Unit
from app.domain.sentence import Sentence, plain
from app.metrics.base import Metric, Reading
from app.metrics.frame import Frames
from app.metrics.load import trials_of, why_no_window
from app.metrics.select import timed, why_untimed
from app.metrics.sums import missing, total
from app.metrics.terms import ARMS, LEAST_SECONDS

_OF: dict[str, Unit] = {"tokens": "tokens_per_second", "characters": "characters_per_second", "words": "words_per_second"}
_COLUMNS = {"tokens": "emitted", "characters": "output_characters", "words": "output_words"}
# Prompts of one run share what the machine did meanwhile, which no spread over prompts shows (definitions § 3).
_NO_INTERVAL = plain("No interval: an absolute speed shares the machine's state of the hour; the speed-up is measured in pairs and has one.")


def _request_sums(rows: pd.DataFrame) -> dict[str, float]:
    # Added up exactly: the last digit would else depend on the order in which facts arrived.
    return {"seconds": math.fsum(rows["seconds"])} | {of: float(rows[column].sum()) for of, column in _COLUMNS.items()}


def _window_sums(frames: Frames, arm: str) -> dict[str, float]:
    """Under load seconds of requests overlap, so their sum is no time of the bench: what counts is what all slots deliver together."""
    rows = trials_of(frames, arm).dropna(subset=["seconds"])
    return {name: float(rows[name].sum()) for name in ("seconds", *_OF)}


def _busy_sums(frames: Frames, arm: str) -> dict[str, float]:
    """Of an open load: what trials delivered between their first arrival and their last answer."""
    rows = timed(frames, arm)
    trials = rows.groupby("trial")
    return {"seconds": float((trials["last_at"].max() - trials["planned_at"].min()).sum())} | {
        of: float(rows[column].sum()) for of, column in _COLUMNS.items()
    }


def _sums(frames: Frames, arm: str) -> dict[str, float]:
    match frames.load.regime:
        case "single":
            return _request_sums(timed(frames, arm))
        case "closed":
            return _window_sums(frames, arm)
        case "open":
            return _busy_sums(frames, arm)


def _no_time(frames: Frames) -> Sentence:
    nothing = plain("The requests took no time that a clock could tell.")
    return (why_no_window(frames) if frames.load.regime == "closed" else None) or nothing


def _compute(frames: Frames) -> list[Reading]:
    found: list[Reading] = []
    for arm in ARMS:
        rows = timed(frames, arm)
        sums = _sums(frames, arm)
        if rows.empty or sums["seconds"] <= LEAST_SECONDS:
            found.append(missing(why_untimed(frames, arm) if rows.empty else _no_time(frames), {"arm": arm}))
            continue
        for of, unit in _OF.items():
            rate = Estimate(
                point=sums[of] / sums["seconds"], n=rows["prompt"].nunique(), counted="prompts", scope="these prompts", reason=_NO_INTERVAL
            )
            found.append(Reading(rate, part={"arm": arm, "of": of}, rounds=total(rows, "rounds"), emitted=total(rows, "emitted"), unit=unit))
    return found


METRIC = Metric(
    id="throughput",
    order=150,
    unit="tokens_per_second",
    formula="Σ tokens, Σ characters, Σ words ÷ Σ seconds: of requests one at a time; of steady windows; in open load, first arrival to last answer",
    compute=_compute,
    speed=True,
)
