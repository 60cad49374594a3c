"""Acceptance by the place of a round: along the output, and by how much text stands before it."""

import numpy as np
import pandas as pd

from app.domain.sentence import plain
from app.metrics.base import Metric, Part, Reading, Sums
from app.metrics.counting import NO_DRAFT
from app.metrics.frame import Frames
from app.metrics.once import once
from app.metrics.select import counted, counted_rounds, listed
from app.metrics.sums import missing, reading, total, unavailable
from app.metrics.trees import NODES, branched

NEEDS = ("verified", "drafted", "rounds")
UNPLACED = plain("The source did not say which steps were rounds, so nothing is known by place.")
# Last places of the buckets: even along the output as far as most answers go, then each twice as wide as the one before.
ALONG = (*range(32, 513, 32), 1024, 2048, 4096, 8192)
BEFORE = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)


def place_metric(*, id: str, order: int, formula: str, column: str, ends: tuple[int, ...], key: str) -> Metric:
    """Acceptance of the rounds whose `column` lies in each bucket; clusters are the prompts that have such a round."""

    @once
    def sums(frames: Frames) -> list[Sums]:
        rounds = counted_rounds(frames)
        if unavailable(frames, NEEDS) or rounds.empty or not listed(frames) or rounds[column].isna().any() or branched(frames):
            return []
        emitted = total(counted(frames), "emitted")
        buckets = np.searchsorted(ends, rounds[column].to_numpy())
        return [_of_bucket(rounds[buckets == at], {key: name_of(int(at), ends)}, emitted) for at in np.unique(buckets)]

    def compute(frames: Frames) -> list[Reading]:
        if (absent := unavailable(frames, NEEDS)) is not None:
            return [absent]
        if branched(frames):
            return [missing(NODES)]
        found = [reading(each, "share", frames, nothing=NO_DRAFT) for each in sums(frames)]
        return found or [missing(NO_DRAFT if total(counted(frames), "rounds") == 0 else UNPLACED)]

    return Metric(id=id, order=order, unit="share", formula=formula, compute=compute, needs=NEEDS, scale="share", sums=sums)


def name_of(bucket: int, ends: tuple[int, ...]) -> str:
    """`33–64`: the first and the last place of a bucket, by its number from 0; the one behind the last end has none."""
    first = ends[bucket - 1] + 1 if bucket else 1
    return f"{first}–{ends[bucket]}" if bucket < len(ends) else f"≥ {first}"


def _of_bucket(rounds: pd.DataFrame, part: Part, emitted: int | None) -> Sums:
    table = rounds[["verified", "drafted"]].multiply(rounds["rounds"], axis=0).groupby(rounds["prompt"]).sum()
    return Sums(table, part=part, rounds=int(rounds["rounds"].sum()), emitted=emitted)
