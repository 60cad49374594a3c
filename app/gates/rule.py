"""What an interval says of a bound, and what several such words say together. Decided here and nowhere else (definitions § 4)."""

from collections.abc import Sequence
from typing import Literal

from app.domain.estimate import Estimate
from app.statistics import reasons

Answer = Literal["holds", "does not hold", "could not be measured", "cannot tell"]
# The first of these that any check says is said by the gate.
_WORST: tuple[Answer, ...] = ("does not hold", "could not be measured", "cannot tell")


def judge(low: float, high: float, *, least: float | None = None, most: float | None = None) -> Answer:
    """Against one bound: holds or fails only where the whole interval is on one side. Raises ValueError unless exactly one bound is given."""
    if (least is None) == (most is None):
        raise ValueError("an interval is judged against one bound")
    if least is not None:
        return "holds" if low >= least else "does not hold" if high < least else "cannot tell"
    assert most is not None
    return "holds" if high <= most else "does not hold" if low > most else "cannot tell"


def no_pair_differs(difference: Estimate, even: float) -> bool:
    """Whether two runs gave the same on every one of enough pairs, as greedy decoding does: without spread there is no interval, and no doubt."""
    return difference.point == even and difference.reason == reasons.no_spread()


def confirmed(first: Answer, repeat: Answer) -> Answer:
    """One check after its repeat: what does not hold must not hold twice. What did hold is not asked again."""
    if first != "does not hold" or repeat == "does not hold":
        return first
    return "could not be measured" if repeat == "could not be measured" else "cannot tell"


def together(answers: Sequence[Answer]) -> Answer:
    """A gate holds if every check does. Raises ValueError where nothing is checked."""
    if not answers:
        raise ValueError("a gate without a check")
    return next((worst for worst in _WORST if worst in answers), "holds")
