"""Figures by position in a draft of results measured elsewhere; a request is a cluster of an interval."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from app.domain.counts import Counts
from app.domain.outside.imported import Imported
from app.domain.outside.reading import Reading as Outside
from app.domain.sentence import plain
from app.metrics.base import Reading
from app.metrics.sums import missing
from app.reports.imported_told import carried, not_told
from app.statistics import clusters

MOST_POSITIONS = 64
_NO_DEPTH = plain("The length of each round's draft is not told, and this figure counts only rounds that drafted so far.")
_SHORT = plain("Some drafts ended before this position, and it is not told whether they kept the position before.")
_NOTHING = plain("No round kept the position before.")
_NO_ROUND = plain("No draft was made.")

Shares = tuple[list[float], list[float]]


class _Told(NamedTuple):
    """Rounds of one reading by position, from 0: those that kept it, those that drafted it, and of these those that kept all before. None is what it
    does not tell."""

    rounds: int | None
    kept: tuple[int, ...] | None
    drafted: tuple[int, ...] | None
    tried: tuple[int, ...] | None

    @classmethod
    def by(cls, outside: Outside) -> "_Told":
        counts = outside.counts
        return cls(counts.rounds, kept_at(counts), _drafted_at(outside), counts.tried_at)

    def below(self, id: str, i: int) -> int | None:
        """The rounds that could have kept the draft at this place. How many of those that kept the one before drafted this one is told by none but a
        list of rounds; without it that is known where no round was shorter."""
        if id == "acceptance_at_all_rounds" or self.rounds is None or self.drafted is None:
            return self.rounds if id == "acceptance_at_all_rounds" else None
        deep = _place(self.drafted, i)
        if id == "acceptance_at" or i == 0:
            return deep
        if self.tried is not None:
            return _place(self.tried, i)
        before = _place(self.kept or (), i - 1)
        return before if deep == self.rounds or before == 0 else None


class Positions:
    """The figures of one import, by position."""

    def __init__(self, imported: Imported) -> None:
        self._imported = imported
        self._whole = _Told.by(imported.total)

    @cached_property
    def _single(self) -> list[_Told]:
        """Of the single requests, where their rounds and kept drafts add up to the total."""
        requests = self._imported.requests
        whole = carried([request.reading.counts for request in requests], self._imported.total.counts, ("rounds", "verified"))
        return [_Told.by(request.reading) for request in requests] if whole else []

    def readings(self, id: str) -> list[Reading]:
        kept, drafted = self._whole.kept, self._whole.drafted
        if kept is None or self._whole.rounds is None:
            return [missing(not_told(self._imported, "kept_at" if kept is None else "rounds"))]
        if drafted is None and id != "acceptance_at_all_rounds":
            return [missing(_NO_DEPTH)]
        return [self._at(id, i) for i in range(min(max(len(kept), len(drafted or ())), MOST_POSITIONS))]

    def _at(self, id: str, i: int) -> Reading:
        part, counts = {"position": str(i + 1)}, self._imported.total.counts
        total, own = _shares(id, [self._whole], i), _shares(id, self._single, i)
        single = own is not None and (total is None or _sums(own) == _sums(total))
        found = own if single else total
        if found is None:
            return missing(_SHORT, part)
        estimate = clusters.share(*found, counted="requests", totals=None if single else counts.requests)
        if estimate.point is None:
            conditional = id == "acceptance_given_previous" and i > 0
            estimate = estimate.model_copy(update={"reason": _NOTHING if conditional else _NO_ROUND})
        return Reading(estimate, part=part, rounds=counts.rounds, emitted=counts.emitted)


def kept_at(counts: Counts) -> tuple[int, ...] | None:
    """Rounds that kept at least 1, 2, … drafts, as told or out of the histogram."""
    if counts.kept_at is not None:
        return counts.kept_at
    return None if counts.histogram is None else tuple(sum(counts.histogram[i:]) for i in range(1, len(counts.histogram)))


def _drafted_at(outside: Outside) -> tuple[int, ...] | None:
    """Rounds that drafted at least 1, 2, … tokens: as told, or all of them where every draft is known to have been as long as the longest, since D
    was counted and is k·R. None where neither is so, and of trees, whose drafted tokens are no depth."""
    counts = outside.counts
    if outside.tree or outside.drafted_source != "observed":
        return None
    if counts.drafted_at is not None:
        return counts.drafted_at
    if counts.longest_draft is None or counts.rounds is None or counts.drafted != counts.longest_draft * counts.rounds:
        return None
    return (counts.rounds,) * min(counts.longest_draft, MOST_POSITIONS)


def _shares(id: str, told: Sequence[_Told], i: int) -> Shares | None:
    """Rounds above and below the line, an entry a reading `[n]`; None where there is none, or where one of them does not tell."""
    above, below = [], []
    for each in told:
        line = each.below(id, i)
        if each.kept is None or line is None:
            return None
        above.append(float(_place(each.kept, i)))
        below.append(float(line))
    return (above, below) if above else None


def _sums(shares: Shares) -> tuple[float, ...]:
    return tuple(sum(each) for each in shares)


def _place(rounds: Sequence[int], i: int) -> int:
    return rounds[i] if i < len(rounds) else 0
