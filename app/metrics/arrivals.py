"""Latency under an open load: trials at the same planned arrivals are a pair, if the load can be borne at all (definitions § 3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.domain.estimate import Estimate
from app.domain.sentence import Quantity, Sentence, plain
from app.metrics.frame import Frames
from app.metrics.select import void_blocks
from app.metrics.terms import ARMS, DONE
from app.statistics.clusters import Array
from app.statistics.pairs import latency_floor
from app.statistics.reasons import FEWEST_TRIAL_PAIRS
from app.statistics.student import quantile

# A mean growth by less than one request is none; more is growth where chance alone gives it once in twenty times.
LEAST_RISE, ONE_SIDED = 1.0, 0.90
MOST_UNFINISHED = 0.10
FEWEST_WAITED, FEWEST_ADMITTED = 3, 8
TRIAL_COLUMNS = ["arm", "trial", "block", "order", "work", "requests", "p50", "p95", "rise", "why"]


@dataclass(frozen=True)
class Stability:
    """`rise` is the mean growth of the number in system over the second half of a trial, in requests; `unfinished` the share of requests that
    were not done one plain p95 after their trial's last arrival; `served` the requests a second that the arm gets through while somebody waits,
    at most, None where too few trials show it; `why` says which of the three shows that the load is not borne, None where none does."""

    rise: float
    unfinished: float
    served: float | None
    why: Sentence | None

    @property
    def stable(self) -> bool:
        return self.why is None


def requests_of(frames: Frames, arm: str) -> pd.DataFrame:
    """Headline requests of an arm, each with its block; without void blocks."""
    blocks = frames.trials.loc[frames.trials["purpose"] == "headline", ["arm", "trial", "block"]]
    rows = frames.requests[(frames.requests["arm"] == arm) & (frames.requests["purpose"] == "headline")]
    found = rows.merge(blocks, on=["arm", "trial"])
    return found[~found["block"].isin(void_blocks(frames))]


def trials_of(frames: Frames, arm: str) -> pd.DataFrame:
    """A row a trial: quantiles of its latencies, the rise of its number in system, `why` it cannot be used. `work` says who arrived when."""
    return pd.DataFrame(list(_rows(requests_of(frames, arm))), columns=TRIAL_COLUMNS)


def _rows(requests: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for (arm, trial, block), own in requests.groupby(["arm", "trial", "block"], sort=True):
        order = own["order"].iloc[0] if own["order"].nunique() == 1 else None
        told = {"arm": arm, "trial": trial, "block": block, "order": order, "requests": len(own), "why": _why_none(own)}
        if told["why"] is None:
            told["work"] = frozenset(zip(own["prompt"], own["seed"], own["planned_at"], strict=True))
            told |= {name: float(np.quantile(own["seconds"], q)) for name, q in (("p50", 0.5), ("p95", 0.95))}
            told["rise"] = rise(own["planned_at"].to_numpy(dtype=float), own["last_at"].to_numpy(dtype=float))
        yield told


def _why_none(own: pd.DataFrame) -> Sentence | None:
    if not own["finish"].isin(DONE).all():
        return plain("A request of the trial broke off, so its latencies are not those of the load.")
    if own["planned_at"].isna().any():
        return plain("The requests of the trial have no planned arrivals, so they did not come as under an open load.")
    return None


def rise(planned: Array, ended: Array) -> float:
    """By how many requests the number in system grew over the second half of the arrivals: the slope of the least-squares line through it, times
    that half. Both `[requests]`, seconds. 0 where all arrived at once."""
    end = planned.max()
    start = end / 2
    half, middle = end - start, (start + end) / 2
    if half <= 0:
        return 0.0
    entered, left = np.clip(planned, start, end) - middle, np.clip(ended, start, end) - middle
    return float(6 / half**2 * (left**2 - entered**2).sum())


def stability(frames: Frames, arm: str) -> Stability | None:
    """Whether an arm bears its load; None where no trial of it can be used.

    The number in system rises where its mean growth over trials is a request or more and, from four trials on, lies above 0 beyond chance. Trials
    of a few arrivals end before it has risen; what the arm serves at most against what arrives shows the overload all the same.
    """
    trials = _usable(trials_of(frames, arm))
    if trials.empty:
        return None
    rises = trials["rise"].to_numpy(dtype=float)
    mean, n = float(rises.mean()), len(rises)
    least = quantile(ONE_SIDED, n - 1) * float(rises.std(ddof=1)) / n**0.5 if n >= FEWEST_TRIAL_PAIRS else 0.0
    unfinished = _unfinished(frames, arm, set(trials["trial"]))
    served, rate = served_at_most(frames, arm), frames.load.rate or 0.0
    why = _why_unstable(arm, mean, unfinished, rising=mean >= LEAST_RISE and mean > least)
    if why is None and served is not None and served < rate:
        why = _why_overloaded(arm, served, rate)
    return Stability(mean, unfinished, served, why)


def _why_overloaded(arm: str, served: float, rate: float) -> Sentence:
    return plain(
        "Unstable: %(rate)s arrive, and the %(arm)s arm serves at most %(served)s while some wait; its latency depends on how long a trial lasts.",
        arm=arm,
        rate=Quantity(kind="asked_rate", value=rate),
        served=Quantity(kind="asked_rate", value=served),
    )


def _why_unstable(arm: str, mean: float, unfinished: float, *, rising: bool) -> Sentence | None:
    if rising:
        return plain(
            "Unstable: requests of the %(arm)s arm pile up, their number in the system grows by %(rise)s over the second half of a trial; "
            "its latency depends on how long a trial lasts.",
            arm=arm,
            rise=Quantity(kind="number", value=mean),
        )
    if unfinished > MOST_UNFINISHED:
        return plain(
            "Unstable: %(share)s of the requests of the %(arm)s arm were unfinished one p95 of plain latency after the last arrival.",
            arm=arm,
            share=Quantity(kind="share", value=unfinished),
        )
    return None


def _unfinished(frames: Frames, arm: str, trials: set[int]) -> float:
    """Share of an arm's requests that were not done one plain p95 after the last arrival of their trial; 0 without a plain arm."""
    plain_rows, own = requests_of(frames, "plain"), requests_of(frames, arm)
    latencies = plain_rows.loc[plain_rows["finish"].isin(DONE), "seconds"].dropna()
    own = own[own["trial"].isin(trials)]
    if latencies.empty:
        return 0.0
    until = own.groupby("trial")["planned_at"].transform("max") + float(np.quantile(latencies, 0.95))
    return float((own["last_at"] > until).mean())


def _usable(trials: pd.DataFrame) -> pd.DataFrame:
    return trials[trials["why"].isna()]


def trial_pairs(frames: Frames) -> pd.DataFrame:
    """Pairs of trials that can be used: each arm once in either place, the same prompts at the same planned times; columns end in the arm's name."""
    a, b = (_usable(trials_of(frames, arm)) for arm in ARMS)
    rows = a.merge(b, on=["block", "trial"], suffixes=("_plain", "_speculative"))
    if rows.empty:
        return rows
    placed = rows["order_plain"].notna() & rows["order_speculative"].notna() & (rows["order_plain"] != rows["order_speculative"])
    return rows[placed & (rows["work_plain"] == rows["work_speculative"])]


def unstable(frames: Frames) -> dict[str, Sentence]:
    """Arms that do not bear the load, each with the reason."""
    found = {arm: stability(frames, arm) for arm in ARMS}
    return {arm: seen.why for arm, seen in found.items() if seen is not None and seen.why is not None}


def why_no_pair(frames: Frames) -> Sentence:
    reasons = [why for arm in ARMS for why in trials_of(frames, arm)["why"] if isinstance(why, Sentence)]
    return reasons[0] if reasons else plain("No trial of one arm stands beside one of the other at the same planned arrivals.")


def plain_against_plain(frames: Frames) -> Estimate | None:
    """The noise floor: in each block, the median latency of plain that ran first in its pair against plain that ran second. None where no block
    has both. The two had arrivals of their own, so their luck is part of the floor."""
    rows = _usable(trials_of(frames, "plain"))
    found = []
    for _, block in rows.groupby("block"):
        first, second = (block[block["order"] == place] for place in (0, 1))
        if len(first) == len(second) == 1:
            found.append((first["p50"].iloc[0], second["p50"].iloc[0]))
    if not found:
        return None
    firsts, seconds = zip(*found, strict=True)
    return latency_floor(firsts, seconds)


def capacity(frames: Frames, arm: str) -> tuple[float | None, int]:
    """Requests that an arm served a second while somebody waited all along, and how many those were; None where nobody did."""
    gaps = _waited_gaps(frames, arm)
    admitted, seconds = sum(n for n, _ in gaps), sum(seconds for _, seconds in gaps)
    return (admitted / seconds if seconds > 0 else None), admitted


def served_at_most(frames: Frames, arm: str) -> float | None:
    """The upper end of `capacity`: one-sided, t on the log over the trials in which somebody waited. None where those, or the admissions in them,
    are too few: one wait for the longest of many requests is no rate."""
    gaps = [(n, seconds) for n, seconds in _waited_gaps(frames, arm) if seconds > 0]
    if len(gaps) < FEWEST_WAITED or sum(n for n, _ in gaps) < FEWEST_ADMITTED:
        return None
    logs = np.log([n / seconds for n, seconds in gaps])
    return float(np.exp(logs.mean() + quantile(ONE_SIDED, len(logs) - 1) * logs.std(ddof=1) / len(logs) ** 0.5))


def _waited_gaps(frames: Frames, arm: str) -> list[tuple[int, float]]:
    """Of each trial in which somebody waited: admissions, and the seconds between each and the one before.

    A request that had come before the one in front of it got its slot waited for the whole gap between the two: over such gaps all slots were
    taken, so admissions ÷ seconds is what the arm can serve at most.
    """
    found = []
    for _, own in requests_of(frames, arm).dropna(subset=["planned_at"]).groupby("trial"):
        planned = own["planned_at"].to_numpy(dtype=float)
        sent = planned + own["queueing"].to_numpy(dtype=float)
        rank = np.argsort(sent, kind="stable")
        planned, sent = planned[rank], sent[rank]
        waited = planned[1:] <= sent[:-1]
        if waited.any():
            found.append((int(waited.sum()), float(np.diff(sent)[waited].sum())))
    return found
