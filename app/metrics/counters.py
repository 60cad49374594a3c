"""Count figures out of a served engine's own totals of a trial, where its single requests tell less."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd

from app.domain.counts import Counts
from app.metrics.frame import ROUND_COLUMNS, Frames, from_counts
from app.metrics.once import once
from app.metrics.select import counted, listed, void_blocks
from app.metrics.terms import DONE

# What is added up where several trials count; the longest draft is the same in all, and what is told by position is not added.
SUMMED = ("emitted", "rounds", "drafted", "verified", "accepted", "undrafted", "prefill_tokens", "discarded_bonus")


@once
def told(frames: Frames, needs: tuple[str, ...]) -> Frames:
    """These frames; or, where their requests lack a count of `needs` and the engine's totals have all of them, frames of one row of those."""
    rows = counted(frames)
    if frames.totals or rows.empty or not rows[list(needs)].isna().any(axis=None):
        return frames
    totals = totals_of(frames)
    made = frames if totals is None else _of(frames, totals)
    return frames if made.requests[list(needs)].isna().any(axis=None) else made


@once
def by_position(frames: Frames) -> Frames:
    """These frames where every round is listed, or those of the engine's totals by position. Of the latter depths are known where every draft was as
    long as the longest: D was counted and is k·R. Nodes of a tree are no depth."""
    totals = None if frames.totals or listed(frames) else totals_of(frames)
    if totals is None or totals.rounds is None or totals.kept_at is None:
        return frames
    longest = totals.longest_draft
    counted_all = not frames.trees and all(each.drafted_source == "observed" for each in frames.counters.values())
    depth = float(longest) if counted_all and longest is not None and totals.drafted == longest * totals.rounds else float("nan")
    exactly = [before - after for before, after in pairwise((totals.rounds, *totals.kept_at, 0))]
    rows = [{"request": 0, "drafted": depth, "depth": depth, "verified": kept, "rounds": n} for kept, n in enumerate(exactly) if n]
    rounds = pd.DataFrame(rows, columns=ROUND_COLUMNS).astype(dict.fromkeys(ROUND_COLUMNS[1:], "float64"))
    return replace(_of(frames, totals), rounds=rounds)


@once
def totals_of(frames: Frames) -> Counts | None:
    """What the engine counted in the first undisturbed trial that has it, of drawn answers in all trials together; None where there is none.

    Only of trials whose requests are all ours and all whole: what others asked, and what broke off, is in the counters too.
    """
    whole = _whole_trials(frames)
    if frames.sampled or frames.timed_controller:
        trials = counted(frames)["trial"].unique().tolist()
        return _sum([frames.counters[trial].counts for trial in trials]) if trials and set(trials) <= set(whole) else None
    return frames.counters[whole[0]].counts if whole else None


def _whole_trials(frames: Frames) -> list[int]:
    """Trials with totals of as many requests as we sent, each of which has a whole answer: undisturbed ones first, the fullest of them first."""
    rows, trials = frames.requests, frames.trials
    own = rows[(rows["arm"] == "speculative") & (rows["purpose"] == "headline")]
    sent, done = Counter(own["trial"].tolist()), Counter(own.loc[own["finish"].isin(DONE), "trial"].tolist())
    void = set(trials.loc[(trials["arm"] == "speculative") & (trials["purpose"] == "headline") & trials["block"].isin(void_blocks(frames)), "trial"])
    whole = [trial for trial, n in sent.items() if n == done[trial] and trial in frames.counters and frames.counters[trial].counts.requests == n]
    return sorted(whole, key=lambda trial: (trial in void, -sent[trial], trial))


def _sum(each: list[Counts]) -> Counts:
    """A count that one of them lacks is not known of all."""
    longest = {counts.longest_draft for counts in each}
    made: dict[str, Any] = {name: _known([getattr(counts, name) for counts in each]) for name in SUMMED}
    return Counts(requests=sum(counts.requests for counts in each), longest_draft=longest.pop() if len(longest) == 1 else None, **made)


def _known(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _of(frames: Frames, totals: Counts) -> Frames:
    return replace(from_counts(totals, trees=frames.trees), of_trial=True, sampled=frames.sampled, load=frames.load)
