"""Figures that are one quotient of counts, and figures by position in a draft: most of the catalogue in two recipes."""

from collections.abc import Callable
from typing import Literal

import pandas as pd

from app.domain.estimate import Unit
from app.domain.sentence import Sentence, plain
from app.metrics.base import Better, Metric, Reading, Sums
from app.metrics.counters import by_position, told
from app.metrics.frame import Frames
from app.metrics.once import once
from app.metrics.select import counted, counted_rounds, listed
from app.metrics.sums import Terms, missing, over_prompts, reading, total, unavailable
from app.metrics.trees import NODES, branched

NO_DRAFT = plain("No draft was made.")
NO_STEP = plain("No decode step was made: the prefill emitted every token.")


def quotient_metric(
    *,
    id: str,
    order: int,
    unit: Unit,
    scale: Literal["share", "ratio"],
    formula: str,
    terms: Terms,
    needs: tuple[str, ...],
    nothing: Sentence = NO_DRAFT,
    powers: tuple[int, ...] = (1, -1),
    better: Better | None = "higher",
    also_printed_as: str = "",
    profiles: bool = False,
    drafts: Literal["chains", "trees"] | None = None,
) -> Metric:
    """A figure that is Σ/Σ of counts over the speculative requests of one trial. One of `drafts` is of runs that drafted such: trees have no figure
    of chains, and say so; chains have none of trees."""

    def other(frames: Frames) -> bool:
        return drafts is not None and branched(frames) != (drafts == "trees")

    @once
    def sums(frames: Frames) -> list[Sums]:
        return [] if unavailable(frames, needs) or other(frames) else over_prompts(frames, terms, powers=powers, profiles=profiles)

    def compute(frames: Frames) -> list[Reading]:
        if other(frames):
            return [] if drafts == "trees" else [missing(NODES)]
        known = told(frames, needs)
        absent = unavailable(known, needs)
        return [absent] if absent else [reading(found, scale, known, nothing=nothing) for found in sums(known)]

    return Metric(
        id=id,
        order=order,
        unit=unit,
        formula=formula,
        compute=compute,
        better=better,
        also_printed_as=also_printed_as,
        needs=needs,
        scale=scale,
        sums=sums,
    )


Rounds = Callable[[pd.DataFrame, int], tuple[pd.Series, pd.Series]]


def position_metric(*, id: str, order: int, formula: str, rounds: Rounds, nothing: Sentence, also_printed_as: str = "", deep: bool = True) -> Metric:
    """A share of rounds for each position i of a draft; `rounds(rows, i)` says which rounds are above and below the line. `deep`: it asks for the
    depth of each round."""

    @once
    def sums(frames: Frames) -> list[Sums]:
        rows = counted_rounds(frames)
        if rows.empty or not listed(frames) or (deep and rows["depth"].isna().any()):
            return []
        reached = rows["verified"] if rows["depth"].isna().any() else rows["depth"]
        return [_at(frames, rows, rounds, i) for i in range(1, int(reached.max()) + 1)]

    def compute(frames: Frames) -> list[Reading]:
        known = by_position(frames)
        absent = unavailable(known, ("rounds",))
        if absent:
            return [absent]
        found = [reading(each, "share", known, nothing=nothing) for each in sums(known)]
        return found or [_without_rounds(known)]

    return Metric(
        id=id,
        order=order,
        unit="share",
        formula=formula,
        compute=compute,
        also_printed_as=also_printed_as,
        needs=("rounds",),
        scale="share",
        sums=sums,
    )


def _at(frames: Frames, rows: pd.DataFrame, rounds: Rounds, i: int) -> Sums:
    requests = counted(frames)
    above, below = rounds(rows, i)
    weights = rows["rounds"]
    table = pd.DataFrame({"term0": above * weights, "term1": below * weights}).groupby(rows["prompt"]).sum()
    # A prompt without a round stays in the pooled figure, with zeros.
    table = table.reindex(sorted(requests["prompt"].unique()), fill_value=0.0)
    return Sums(table, part={"position": str(i)}, rounds=total(requests, "rounds"), emitted=total(requests, "emitted"))


def _without_rounds(frames: Frames) -> Reading:
    if total(counted(frames), "rounds") == 0:
        return missing(NO_DRAFT)
    return missing(plain("The source did not give the depth and the kept drafts of each round, so nothing is known by position."))
