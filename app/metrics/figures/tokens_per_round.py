"""Tokens a round gives, the target's own included. Steps without a draft are not rounds."""

from app.metrics.base import Metric, Reading, Sums
from app.metrics.counters import told
from app.metrics.counting import NO_DRAFT
from app.metrics.frame import Frames
from app.metrics.sums import over_prompts, reading, unavailable

NEEDS = ("verified", "rounds")


def _compute(frames: Frames) -> list[Reading]:
    known = told(frames, NEEDS)
    absent = unavailable(known, NEEDS)
    # 1 is added after the interval is made, so that no interval falls below 1.
    kept = [] if absent else over_prompts(known, lambda rows: (rows["verified"], rows["rounds"]))
    return [absent] if absent else [reading(sums, "ratio", known, nothing=NO_DRAFT, offset=1.0) for sums in kept]


def _sums(frames: Frames) -> list[Sums]:
    return [] if unavailable(frames, NEEDS) else over_prompts(frames, lambda rows: (rows["verified"] + rows["rounds"], rows["rounds"]))


METRIC = Metric(
    id="tokens_per_round",
    order=40,
    unit="tokens",
    formula="1 + ΣV / ΣR",
    compute=_compute,
    also_printed_as='vLLM, llama.cpp "mean acceptance length"; EAGLE and Spec-Bench τ; InferenceX AL',
    needs=NEEDS,
    scale="ratio",
    sums=_sums,
)
