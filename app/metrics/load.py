"""Speed under closed load: neighbouring trials of one block are a pair (definitions § 3)."""

import pandas as pd

from app.domain.estimate import Estimate
from app.domain.sentence import Sentence, plain
from app.metrics.base import Reading
from app.metrics.frame import Frames
from app.metrics.select import counted, void_blocks, why_untimed
from app.metrics.sums import missing, total
from app.metrics.terms import ARMS
from app.statistics import clusters
from app.statistics.pairs import throughput_floor, throughput_speedup


def trials_of(frames: Frames, arm: str) -> pd.DataFrame:
    """Trials of an arm with their window, if they have one, and their block; without void blocks, and without trials that were never closed."""
    known = frames.trials[["arm", "purpose", "trial", "block"]]
    rows = frames.windows.merge(known, on=["arm", "purpose", "trial"])
    return rows[(rows["arm"] == arm) & (rows["purpose"] == "headline") & ~rows["block"].isin(void_blocks(frames))]


def neighbours(frames: Frames) -> pd.DataFrame:
    """Pairs of trials, a row a pair, whether or not both have a window; columns end in the arm's name."""
    a, b = (trials_of(frames, arm) for arm in ARMS)
    return a.merge(b, on=["block", "trial"], suffixes=("_plain", "_speculative"))


def trial_pairs(frames: Frames) -> pd.DataFrame:
    """Pairs that can be used: each arm once in either place, the same prompts and seeds, a steady window in both."""
    rows = neighbours(frames)
    if rows.empty:
        return rows
    same = rows["work_plain"] == rows["work_speculative"]
    placed = rows["order_plain"].notna() & rows["order_speculative"].notna() & (rows["order_plain"] != rows["order_speculative"])
    return rows[same & placed & rows["seconds_plain"].notna() & rows["seconds_speculative"].notna()]


def rates(pairs: pd.DataFrame, arm: str) -> clusters.Array:
    """Delivered tokens per second of each pair's trial of an arm."""
    return (pairs[f"tokens_{arm}"] / pairs[f"seconds_{arm}"]).to_numpy(dtype=float)


def speedup(frames: Frames) -> list[Reading]:
    """The estimate over trial pairs, and beside it all tokens over all seconds of either arm."""
    pairs = trial_pairs(frames)
    if pairs.empty:
        return [missing(why_no_pair(frames))]
    rows, left = counted(frames), len(neighbours(frames)) - len(pairs)
    rounds, emitted = total(rows, "rounds"), total(rows, "emitted")
    said = plain("%(trial_pairs)s more are left out: no steady window in both arms, or not the same prompts.", trial_pairs=left) if left else None
    terms = [
        (pairs[f"{name}_{arm}"].to_numpy(dtype=float), power)
        for arm, sign in (("speculative", 1), ("plain", -1))
        for name, power in (("tokens", sign), ("seconds", -sign))
    ]
    over_all = clusters.product(terms, counted="trial pairs").model_copy(update={"scope": "these prompts"})
    return [
        Reading(throughput_speedup(rates(pairs, "speculative"), rates(pairs, "plain")), left_out=said, rounds=rounds, emitted=emitted),
        Reading(over_all, part={"over": "total time"}, rounds=rounds, emitted=emitted),
    ]


def why_no_pair(frames: Frames) -> Sentence:
    """Why no trial of plain stands beside one of the speculative arm."""
    if frames.load.regime == "single":
        return plain("One request at a time is weighed by pairs of requests.")
    for arm in ARMS:
        why = why_untimed(frames, arm)
        if why.values or trials_of(frames, arm).empty:
            return why
    return why_no_window(frames) or plain("No trial of one arm stands beside one of the other over the same prompts.")


def why_no_window(frames: Frames) -> Sentence | None:
    """The first reason why a trial has no steady window; None where all have one."""
    return next((why for why in pd.concat([trials_of(frames, arm) for arm in ARMS])["why"] if isinstance(why, Sentence)), None)


def plain_against_plain(frames: Frames) -> Estimate | None:
    """The noise floor: in each block, plain that ran first in its pair against plain that ran second. None where no block has both.

    In ABBA the first of them is the earlier trial, in BAAB the later, and blocks take turns: drift changes its sign from block to block. They share
    their prompts, but where answers are drawn not their seeds: each pair of a block draws anew.
    """
    rows = trials_of(frames, "plain").dropna(subset=["seconds"])
    rows = rows.assign(rate=rows["tokens"] / rows["seconds"])
    found = []
    for _, block in rows.groupby("block"):
        first, second = (block[block["order"] == place] for place in (0, 1))
        if len(first) == len(second) == 1 and _prompts(first["work"].iloc[0]) == _prompts(second["work"].iloc[0]):
            found.append((first["rate"].iloc[0], second["rate"].iloc[0]))
    if not found:
        return None
    firsts, seconds = zip(*found, strict=True)
    return throughput_floor(firsts, seconds)


def _prompts(work: frozenset[tuple[str, int]]) -> set[str]:
    return {prompt for prompt, _ in work}
