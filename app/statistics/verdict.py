"""Whether a drafter pays: decided here and nowhere else (definitions § 4)."""

import math
from dataclasses import dataclass
from typing import Literal

from app.domain.estimate import Estimate
from app.domain.sentence import Sentence
from app.domain.value import Value
from app.statistics.pairs import excludes_one
from app.statistics.reasons import FEWEST_CLUSTERS, FEWEST_TRIAL_PAIRS, PAIRS_PER_BLOCK
from app.statistics.student import quantile

Outcome = Literal["pays", "does not pay", "cannot tell"]
Cause = Literal[
    "interval",
    "few prompts",
    "few trial pairs",
    "few seeds",
    "not level",
    "slow plain",
    "no control",
    "no draft",
    "no noise floor",
    "contended",
    "refused",
    "no plain arm",
    "no interval",
    "lossy",
    "not finished",
    "unstable",
    "family",
]
FEWEST_PROMPTS = 8
# Of answers that are drawn, per prompt and arm (definitions § 3).
FEWEST_SEEDS = 4
# Figures whose clusters are trial pairs; all others are judged over prompts.
OF_TRIAL_PAIRS = frozenset({"speedup_throughput", "latency_ratio"})
# The blocks that hold the least number of trial pairs; each gives one plain trial against another.
FEWEST_FLOOR_BLOCKS = FEWEST_TRIAL_PAIRS // PAIRS_PER_BLOCK
MOST_CONTENDED = 1 / 3
# By how much plain decoding here may differ from the library's own; one that is slower by more flatters every drafter.
FAIR_BASELINE = 0.1
# The share of the prompts on which the library's own plain decoding may be missing.
MOST_UNCONTROLLED = 0.1
# Beyond this a number of further prompts is no advice any more.
MOST_MORE = 100_000
# As many as a run may hold (50 blocks); trials added after looking make a new run.
MOST_TRIAL_PAIRS = 100


class Verdict(Value):
    """`causes` says why it cannot be told; `slower` is true when the whole interval lies below 1; `more` is the number of further prompts
    (or trial pairs) that would settle it at today's spread, None where no number would."""

    outcome: Outcome
    headline: str
    margin: float
    causes: tuple[Cause, ...] = ()
    slower: bool = False
    more: int | None = None
    family: int = 1
    noise_floor: Estimate | None = None
    sentence: Sentence


@dataclass(frozen=True)
class Evidence:
    """All that a verdict rests on. `speedup` is the load's headline and None where plain was not measured; `control` is the time of the library's
    own plain decoding ÷ that of the plain arm, and `controlled` says that the run should have it; `blocks` and `contended` count blocks of trials;
    `seeds` is the least number of draws of a prompt that were timed in both arms, None where nothing is drawn; `refused` and `lossy` are the gates'
    answers; `drafts` is False where the speculative arm drafted nothing at all; `unstable` says that an arm does not bear its open load;
    `still_pays` is False where a family's Holm adjustment takes a `pays` back."""

    headline: str
    margin: float
    speedup: Estimate | None
    noise_floor: Estimate | None = None
    control: Estimate | None = None
    controlled: bool = False
    blocks: int = 0
    contended: int = 0
    seeds: int | None = None
    finished: bool = True
    plain: bool = True
    drafts: bool = True
    refused: bool = False
    lossy: bool = False
    unstable: bool = False
    family: int = 1
    still_pays: bool = True

    @property
    def of_trial_pairs(self) -> bool:
        return self.headline in OF_TRIAL_PAIRS

    @property
    def fewest(self) -> int:
        """The least number of prompts, or of trial pairs, that a verdict rests on."""
        return FEWEST_TRIAL_PAIRS if self.of_trial_pairs else FEWEST_PROMPTS


@dataclass(frozen=True)
class Decision:
    """A verdict before it is put into words."""

    outcome: Outcome
    causes: tuple[Cause, ...] = ()
    slower: bool = False
    more: int | None = None


def rule(seen: Evidence) -> Decision:
    """The rules of definitions § 4. Every cause that holds is named, the strongest first; `more` only where prompts or trials are what is missing."""
    outcome, slower = _by_interval(seen)
    causes = tuple(cause for cause, holds in _causes(seen, outcome) if holds)
    if not causes:
        return Decision(outcome, slower=slower)
    fixable = set(causes) <= {"interval", "few prompts", "few trial pairs", "no interval", "no noise floor"}
    return Decision("cannot tell", causes, more=more_clusters(seen) if fixable else None)


def _by_interval(seen: Evidence) -> tuple[Outcome, bool]:
    low, high = (None, None) if seen.speedup is None else (seen.speedup.low, seen.speedup.high)
    if low is None or high is None:
        return "cannot tell", False
    if low > 1 + seen.margin:
        return "pays", False
    return ("does not pay", high < 1) if high < 1 + seen.margin else ("cannot tell", False)


def _causes(seen: Evidence, outcome: Outcome) -> list[tuple[Cause, bool]]:
    speedup, floor = seen.speedup, seen.noise_floor
    measured = seen.finished and seen.plain
    return [
        ("not finished", not seen.finished),
        ("refused", seen.refused),
        ("lossy", seen.lossy),
        # Behind a refusal: plain requests of which each broke off were measured.
        ("no plain arm", seen.finished and not seen.plain),
        ("unstable", measured and seen.unstable),
        ("contended", seen.blocks > 0 and seen.contended > seen.blocks * MOST_CONTENDED),
        ("not level", floor is not None and excludes_one(floor)),
        ("slow plain", measured and slow_plain(seen.control)),
        ("no control", measured and seen.controlled and speedup is not None and speedup.low is not None and not _control_known(seen)),
        ("no draft", measured and not seen.drafts and outcome != "does not pay"),
        ("few trial pairs" if seen.of_trial_pairs else "few prompts", measured and speedup is not None and speedup.n < seen.fewest),
        ("few seeds", measured and seen.seeds is not None and seen.seeds < FEWEST_SEEDS),
        ("no interval", measured and (speedup is None or speedup.low is None)),
        ("no noise floor", measured and speedup is not None and speedup.low is not None and not _floor_known(seen)),
        ("family", outcome == "pays" and not seen.still_pays),
        ("interval", speedup is not None and speedup.low is not None and outcome == "cannot tell"),
    ]


def slow_plain(control: Estimate | None) -> bool:
    """Whether plain decoding takes longer here than the library's own, beyond doubt and by more than it may."""
    most = _end(control, "high")
    return most is not None and most < 1 - FAIR_BASELINE


def slower_plain(control: Estimate | None) -> bool:
    """Whether it takes longer beyond doubt, by no more than it may."""
    most = _end(control, "high")
    return most is not None and most < 1 and not slow_plain(control)


def fast_plain(control: Estimate | None) -> bool:
    """Whether it takes less time: the speed-up is against the faster of the two, which flatters nobody."""
    least = _end(control, "low")
    return least is not None and least > 1 + FAIR_BASELINE


def _end(control: Estimate | None, end: Literal["low", "high"]) -> float | None:
    """Times that agree to the last digit have no spread and so no interval; then the point is both ends of it."""
    if control is None:
        return None
    found: float | None = getattr(control, end)
    return control.point if found is None and control.n >= FEWEST_CLUSTERS else found


def _control_known(seen: Evidence) -> bool:
    """Whether the library's own was compared on nearly all prompts that the speed-up rests on; those without it would be a choice."""
    control, speedup = seen.control, seen.speedup
    return control is not None and speedup is not None and _end(control, "low") is not None and control.n >= (1 - MOST_UNCONTROLLED) * speedup.n


def _floor_known(seen: Evidence) -> bool:
    # Plain requests that agree to the last digit have no spread and so no interval, but they were compared.
    floor, least = seen.noise_floor, FEWEST_FLOOR_BLOCKS if seen.of_trial_pairs else FEWEST_CLUSTERS
    return floor is not None and floor.point is not None and floor.n >= least


def more_clusters(seen: Evidence) -> int | None:
    """How many more prompts (under load trial pairs) would move the whole interval to one side of 1 + margin at today's spread.

    None where the point lies between 1 and 1 + margin (an effect that the margin calls too small to matter), or where the spread is unknown.
    """
    speedup = seen.speedup
    if speedup is None or speedup.point is None:
        return None
    missing = max(seen.fewest - speedup.n, 0)
    if speedup.low is None or speedup.high is None:
        return missing or None
    if 1 <= speedup.point <= 1 + seen.margin:
        return None
    spread = math.log(speedup.high / speedup.low) / 2 / quantile(speedup.level, speedup.n - 1) * math.sqrt(speedup.n)
    distance = abs(math.log(speedup.point / (1 + seen.margin)))
    needed = _settling(spread / distance, speedup.level, MOST_TRIAL_PAIRS if seen.of_trial_pairs else MOST_MORE)
    return None if needed is None else max(needed - speedup.n, missing) or None


def _settling(spread: float, level: float, most: int) -> int | None:
    """The least n with t(n−1)·spread/√n < 1; None beyond `most`."""

    def settles(n: int) -> bool:
        return quantile(level, n - 1) * spread < math.sqrt(n)

    if not settles(most):
        return None
    low, high = 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settles(middle) else (middle, high)
    return high
