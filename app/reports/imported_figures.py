"""The count figures of results measured elsewhere, by the same recipes and estimators as a run's; a request is a cluster of an interval."""

from collections.abc import Sequence
from functools import cached_property

from app.domain.counts import Counts
from app.domain.outside.imported import Imported
from app.domain.outside.reading import Reading as Outside
from app.domain.sentence import Sentence, plain
from app.metrics.base import Metric, Reading
from app.metrics.catalogue import METRICS
from app.metrics.frame import Frames, from_counts, from_requests
from app.metrics.sums import missing
from app.metrics.terms import COUNTS
from app.metrics.trees import NODES
from app.statistics import clusters

QUOTIENTS = (
    "acceptance_rate", "acceptance_rate_nodes", "verified_per_position", "accepted_per_round", "tokens_per_round", "tokens_per_target_forward",
    "accepted_share", "draft_coverage",
)  # fmt: skip
# Of all rounds, of those that drafted so far, of those that kept the position before.
POSITIONS = ("acceptance_at_all_rounds", "acceptance_at", "acceptance_given_previous")
FIGURES = tuple(id for id in METRICS if id in (*QUOTIENTS, *POSITIONS))
# Figures whose denominator is D, where D may be assumed.
OF_DRAFTED = frozenset({"acceptance_rate", "acceptance_rate_nodes", "verified_per_position"})
MOST_POSITIONS = 64


def readings(imported: Imported) -> list[tuple[Metric, Reading]]:
    """Every count figure, in the catalogue's order; one that cannot be computed has the reason in its place."""
    found, frames = [], _Frames(imported)
    for metric in (METRICS[id] for id in FIGURES):
        made = _positions(metric.id, imported) if metric.id in POSITIONS else _quotient(metric, imported, frames)
        found += [(metric, reading) for reading in made]
    return found


def _quotient(metric: Metric, imported: Imported, frames: "_Frames") -> list[Reading]:
    if metric.id == "acceptance_rate_nodes" and not imported.total.tree:
        return []
    if metric.id == "acceptance_rate" and imported.total.tree:
        return [missing(NODES)]
    for name in metric.needs:
        if getattr(imported.total.counts, name) is None:
            return [missing(not_told(imported.total, name))]
    return metric.compute(frames.telling(metric.needs))


class _Frames:
    """The frames of an import, each made once."""

    def __init__(self, imported: Imported) -> None:
        self._total, self._trees = imported.total.counts, imported.total.tree
        self._counts = [request.reading.counts for request in imported.requests]

    def telling(self, needs: Sequence[str]) -> Frames:
        """A row a request where each of them tells these counts and they add up to the total, else one of totals."""
        return self._single if carried(self._counts, self._total, needs) else self._whole

    @cached_property
    def _single(self) -> Frames:
        return from_requests(self._counts, trees=self._trees)

    @cached_property
    def _whole(self) -> Frames:
        return from_counts(self._total, trees=self._trees)


def carried(counts: Sequence[Counts], total: Counts, needs: Sequence[str]) -> bool:
    """Whether single requests tell all of a figure's counts, so that they are its clusters."""
    told = bool(counts) and all(getattr(each, name) is not None for each in counts for name in needs)
    return told and all(sum(getattr(each, name) for each in counts) == getattr(total, name) for name in needs)


def not_told(outside: Outside, name: str) -> Sentence:
    """Why a count is missing, with the names under which it was looked for."""
    looked = next((absent.looked_for for absent in outside.absent if absent.count in (name, _SYMBOLS.get(name))), ())
    count = COUNTS[name].text
    if looked:
        return plain("The file does not tell %(count)s; looked for: %(names)s.", count=count, names=", ".join(looked))
    return plain("The file does not tell %(count)s.", count=count)


_SYMBOLS = {"drafted": "D", "verified": "V", "rounds": "R", "undrafted": "U", "accepted": "A", "emitted": "E", "prefill_tokens": "P"}


def kept_at(counts: Counts) -> tuple[int, ...] | None:
    """Rounds that kept at least 1, 2, … drafts, as told or out of the histogram."""
    if counts.kept_at is not None:
        return counts.kept_at
    return None if counts.histogram is None else tuple(sum(counts.histogram[i:]) for i in range(1, len(counts.histogram)))


def _positions(id: str, imported: Imported) -> list[Reading]:
    total = imported.total.counts
    kept = kept_at(total)
    if kept is None or total.rounds is None:
        return [missing(not_told(imported.total, "kept_at" if kept is None else "rounds"))]
    if id != "acceptance_at_all_rounds" and not _as_long(imported.total):
        return [missing(plain("The length of each round's draft is not told, and this figure counts only rounds that drafted so far."))]
    return [_at(id, imported, kept, i) for i in range(min(len(kept), MOST_POSITIONS))]


def _as_long(outside: Outside) -> bool:
    """Whether every draft is known to have been as long as the longest: D was counted, and is k·R."""
    drafted, rounds, longest = outside.counts.drafted, outside.counts.rounds, outside.counts.longest_draft
    if drafted is None or rounds is None or longest is None:
        return False
    return outside.drafted_source == "observed" and not outside.tree and drafted == longest * rounds


def _at(id: str, imported: Imported, kept: Sequence[int], i: int) -> Reading:
    """A position from 0. In the conditional form the rounds below the line are those that kept the position before."""
    each = [request.reading.counts for request in imported.requests]
    lists = [kept_at(counts) for counts in each]
    single = carried(each, imported.total.counts, ("rounds",)) and all(one is not None for one in lists)
    above = [_place(one, i) for one in lists if one is not None] if single else [kept[i]]
    rounds = [counts.rounds or 0 for counts in each] if single else [imported.total.counts.rounds or 0]
    conditional = id == "acceptance_given_previous" and i > 0
    below = ([_place(one, i - 1) for one in lists if one is not None] if single else [kept[i - 1]]) if conditional else rounds
    totals = None if single else imported.total.counts.requests
    estimate = clusters.share([float(v) for v in above], [float(v) for v in below], counted="requests", totals=totals)
    if estimate.point is None:
        estimate = estimate.model_copy(update={"reason": _NOTHING if conditional else _NO_ROUND})
    return Reading(estimate, part={"position": str(i + 1)}, rounds=imported.total.counts.rounds, emitted=imported.total.counts.emitted)


_NOTHING = plain("No round kept the position before.")
_NO_ROUND = plain("No draft was made.")


def _place(kept: Sequence[int], i: int) -> int:
    return kept[i] if i < len(kept) else 0
