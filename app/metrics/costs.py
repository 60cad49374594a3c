"""Times of stages by the shape of a step, in plain decode steps over as many sequences (definitions § 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.domain.estimate import Estimate
from app.domain.sentence import Sentence, plain
from app.metrics.base import Part, Reading
from app.metrics.frame import Frames
from app.metrics.select import counted, counted_rounds, listed
from app.metrics.sums import missing

Stage = Literal["draft", "verify"]
# A mean of fewer occurrences is no cost.
FEWEST = 5
# What no draft at all costs: nothing to propose, and a verification that is a plain step.
WITHOUT_DRAFT: dict[Stage, float] = {"draft": 0.0, "verify": 1.0}

NO_PROFILE = plain("This run has no profiled trial.")
DISTURBED = plain("Other processes disturbed the profiled trial, so its times are not used.")
UNLISTED = plain("The source did not list each round with its draft and the sequences beside it, so what rounds cost is not known.")
NO_INTERVAL = plain("No interval: all times are from one profiled trial, and the noise of a whole trial does not show within it.")


@dataclass(frozen=True)
class Cost:
    """A mean over `times` occurrences, in plain steps."""

    steps: float
    times: int


@dataclass(frozen=True)
class Costs:
    """By stage, sequences and drafts; shapes that occurred fewer than 5 times are left out, and so are those without a plain step to compare with."""

    found: dict[tuple[Stage, int], dict[int, Cost]]

    @classmethod
    def of(cls, frames: Frames) -> "Costs":
        rows = frames.costs.groupby(["stage", "sequences", "tokens"])["seconds"].agg(["mean", "size"])
        kept = {shape: (float(mean), int(size)) for shape, mean, size in rows.itertuples() if size >= FEWEST}
        step = {int(s): mean for (stage, s, _), (mean, _) in kept.items() if stage == "step" and mean > 0}
        found: dict[tuple[Stage, int], dict[int, Cost]] = {}
        for (stage, s, n), (mean, size) in kept.items():
            if stage != "step" and int(s) in step:
                found.setdefault((stage, int(s)), {})[int(n)] = Cost(mean / step[int(s)], size)
        return cls(found)

    def cells(self, stage: Stage) -> Iterator[tuple[int, int, Cost]]:
        """(sequences, drafts, cost), in order."""
        for (of, sequences), by_drafts in sorted(self.found.items()):
            if of == stage:
                for drafts, cost in sorted(by_drafts.items()):
                    yield sequences, drafts, cost

    def at(self, stage: Stage, sequences: int, drafts: float) -> float | None:
        """Plain steps for `drafts` drafts, between profiled numbers by a straight line that begins at no draft; None beyond the longest."""
        known = self.found.get((stage, sequences), {})
        if not known or drafts > max(known):
            return None
        numbers = sorted(known)
        return float(np.interp(drafts, [0, *numbers], [WITHOUT_DRAFT[stage], *(known[n].steps for n in numbers)]))

    def profiled(self, sequences: int) -> list[int]:
        """Numbers of drafts of which a whole round was profiled, in order."""
        draft, verify = (self.found.get((stage, sequences), {}) for stage in WITHOUT_DRAFT)
        return sorted(n for n in draft.keys() & verify.keys() if n > 0)

    def round(self, sequences: int, drafts: float) -> float | None:
        """Plain steps of a whole round, as long as both of its stages were profiled."""
        draft, verify = self.at("draft", sequences, drafts), self.at("verify", sequences, drafts)
        return None if draft is None or verify is None else draft + verify


def needed(cost: float, drafts: float) -> float:
    """The acceptance at which a round of `drafts` drafts that takes `cost` plain steps gives as many tokens as those steps would."""
    return (cost - 1) / drafts


def usual_round(frames: Frames) -> tuple[float, int] | None:
    """(n̄ = ΣD / ΣR, sequences as in most rounds); None where no draft was made, or rounds are not listed."""
    rows, rounds = counted(frames), counted_rounds(frames)
    if rounds.empty or why_unlisted(frames) is not None:
        return None
    return float(rows["drafted"].sum() / rows["rounds"].sum()), int(rounds["slots"].mode().iloc[0])


def why_no_costs(frames: Frames) -> Sentence | None:
    """Why no cost is known, or None when some may be."""
    if not frames.costs.empty:
        return None
    return DISTURBED if (frames.trials["purpose"] == "profile").any() else NO_PROFILE


def why_unlisted(frames: Frames) -> Sentence | None:
    """Why rounds cannot be priced, or None where every one of them tells its shape."""
    return None if listed(frames) and not counted_rounds(frames)["slots"].isna().any() else UNLISTED


def by_shape(frames: Frames, stage: Stage) -> list[Reading]:
    """A reading for each shape; one without a point where nothing was profiled or nothing often enough."""
    if (reason := why_no_costs(frames)) is not None:
        return [missing(reason)]
    found = [_reading(cost, {"sequences": str(s), "tokens": str(n)}) for s, n, cost in Costs.of(frames).cells(stage)]
    return found or [missing(plain("No number of drafts occurred %(least)s times in the profiled trial.", least=FEWEST))]


def _reading(cost: Cost, part: Part) -> Reading:
    estimate = Estimate(point=cost.steps, n=cost.times, counted="rounds", scope="these prompts", reason=NO_INTERVAL)
    return Reading(estimate, part=part, rounds=cost.times)
