"""The count figures of results measured elsewhere, by the same recipes and estimators as a run's; a request is a cluster of an interval."""

from collections.abc import Sequence
from functools import cached_property

from app.domain.outside.imported import Imported
from app.metrics.base import Metric, Reading
from app.metrics.catalogue import METRICS
from app.metrics.frame import Frames, from_counts, from_requests
from app.metrics.sums import missing
from app.metrics.trees import NODES
from app.reports.imported_positions import Positions
from app.reports.imported_told import carried, not_told

QUOTIENTS = (
    "acceptance_rate", "acceptance_rate_nodes", "verified_per_position", "accepted_per_round", "tokens_per_round", "tokens_per_target_forward",
    "accepted_share", "draft_coverage",
)  # fmt: skip
# Of all rounds, of those that drafted so far, of those that kept the position before.
POSITIONS = ("acceptance_at_all_rounds", "acceptance_at", "acceptance_given_previous")
FIGURES = tuple(id for id in METRICS if id in (*QUOTIENTS, *POSITIONS))
# Figures whose denominator is D, where D may be assumed.
OF_DRAFTED = frozenset({"acceptance_rate", "acceptance_rate_nodes", "verified_per_position"})


def readings(imported: Imported) -> list[tuple[Metric, Reading]]:
    """Every count figure, in the catalogue's order; one that cannot be computed has the reason in its place."""
    found, frames, positions = [], _Frames(imported), Positions(imported)
    for metric in (METRICS[id] for id in FIGURES):
        made = positions.readings(metric.id) if metric.id in POSITIONS else _quotient(metric, imported, frames)
        found += [(metric, reading) for reading in made]
    return found


def _quotient(metric: Metric, imported: Imported, frames: "_Frames") -> list[Reading]:
    if metric.id == "acceptance_rate_nodes" and not imported.total.tree:
        return []
    if metric.id == "acceptance_rate" and imported.total.tree:
        return [missing(NODES)]
    for name in metric.needs:
        if getattr(imported.total.counts, name) is None:
            return [missing(not_told(imported, name))]
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
