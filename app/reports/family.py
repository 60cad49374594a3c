"""The family in which a run's `pays` is weighed: its campaign, and whatever it is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.estimate import Estimate
from app.reports.record import Kin
from app.statistics.family import holm, p_pays


@dataclass(frozen=True)
class Family:
    """How many runs are weighed together, and whether this one still pays after Holm's adjustment."""

    size: int = 1
    still_pays: bool = True


ALONE = Family()


def family_of(kin: Sequence[Kin], margin: float, speedup: Estimate | None, beside: Family = ALONE) -> Family:
    """The run's campaign, joined with those that it is compared with.

    A run of the campaign that has not ended, or has no interval, counts as one that does not pay: the adjustment is then the strictest that can come.
    """
    if not kin:
        return beside
    size = max(beside.size, 1 + len(kin))
    if speedup is None or speedup.low is None:
        return Family(size, beside.still_pays)
    adjusted = holm([_p(speedup, margin), *(_p(other.speedup, other.margin) for other in kin)])[0]
    return Family(size, beside.still_pays and adjusted < (1 - speedup.level) / 2)


def _p(speedup: Estimate | None, margin: float) -> float:
    return 1.0 if speedup is None or speedup.low is None else p_pays(speedup, margin)
