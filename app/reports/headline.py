"""Which figure a run is judged by, and on what evidence."""

import pandas as pd

from app.domain.estimate import Cell, Estimate, Figure
from app.metrics import arrivals, load
from app.metrics.figures import control_ratio
from app.metrics.frame import Frames
from app.metrics.select import headline as measured
from app.metrics.select import paired, void_blocks
from app.metrics.speed import plain_against_plain
from app.reports.losslessness import pairs_of, same_output
from app.reports.record import RunRecord

END_TO_END, DECODE, THROUGHPUT = "speedup_end_to_end", "speedup_decode", "speedup_throughput"
LATENCY = "latency_ratio"


def headline_of(record: RunRecord) -> str:
    """The headline figure of a run's load (definitions § 3): decoding alone where the arms' answers differ, throughput under
    closed load, median latency in an open one."""
    regime = record.spec.load.regime
    if regime != "single":
        return THROUGHPUT if regime == "closed" else LATENCY
    return DECODE if record.spec.sampling.temperature > 0 or outputs_differ(record) else END_TO_END


def outputs_differ(record: RunRecord) -> bool:
    """Whether any headline request of the speculative arm says something else than plain's of the same pass."""
    ours, own = pairs_of(record.requests)
    return not same_output(ours, own).all()


def estimate_of(cell: Cell | None) -> Estimate | None:
    return cell.pooled if isinstance(cell, Figure) else None


def noise_floor(frames: Frames, headline: str) -> Estimate | None:
    """Plain against plain, in the quantity of the headline."""
    if headline == LATENCY:
        return arrivals.plain_against_plain(frames)
    return load.plain_against_plain(frames) if headline == THROUGHPUT else plain_against_plain(frames, decode_only=headline == DECODE)


def control(frames: Frames) -> Estimate | None:
    """How much longer the library's own plain decoding takes than the plain arm; None where it was not measured."""
    found = next(iter(control_ratio.METRIC.compute(frames)), None)
    return None if found is None or found.pooled.point is None else found.pooled


def unstable(frames: Frames) -> tuple[str, ...]:
    """Arms that do not bear an open load."""
    return tuple(arrivals.unstable(frames)) if frames.load.regime == "open" else ()


def blocks_of(frames: Frames) -> tuple[int, int]:
    """(blocks of headline trials, of them void)."""
    trials = frames.trials
    return trials.loc[trials["purpose"] == "headline", "block"].nunique(), len(void_blocks(frames))


def seeds_of(frames: Frames, headline: str) -> int | None:
    """The least number of draws of a prompt that were timed in both arms; None where nothing is drawn."""
    if not frames.sampled:
        return None
    draws = {THROUGHPUT: _drawn_under_load, LATENCY: _drawn_at_arrivals}.get(headline, paired)(frames)
    return int(draws.groupby("prompt")["seed"].nunique().min()) if len(draws) else 0


def _drawn_under_load(frames: Frames) -> pd.DataFrame:
    pairs = load.trial_pairs(frames)
    return pd.DataFrame([draw for work in pairs["work_plain"] for draw in work] if len(pairs) else [], columns=["prompt", "seed"])


def _drawn_at_arrivals(frames: Frames) -> pd.DataFrame:
    pairs = arrivals.trial_pairs(frames)
    return pd.DataFrame([draw[:2] for work in pairs["work_plain"] for draw in work] if len(pairs) else [], columns=["prompt", "seed"])


def has_plain(frames: Frames) -> bool:
    return not measured(frames, "plain").empty


def passes_used(frames: Frames) -> int:
    return int(paired(frames)["trial"].nunique())
