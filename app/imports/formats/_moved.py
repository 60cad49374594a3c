"""The differences of a server's counters, as far as a format read them: what is kept of two texts of /metrics."""

from collections import defaultdict
from collections.abc import Iterable

from app.domain.outside.imported import MOST_SERIES, Difference
from app.domain.outside.prometheus import Labels, Moved, Series
from app.imports.formats._build import TOO_LONG
from app.imports.formats.base import NotImported


class Noted(Moved):
    """Differences that know which counters were asked for, of which labels (None: of every value that a label has)."""

    def __init__(self, series: Series) -> None:
        super().__init__(series)
        self._asked: defaultdict[str, set[tuple[str, str | None]]]
        object.__setattr__(self, "_asked", defaultdict(set))

    def total(self, name: str, **labels: str) -> int | None:
        self._asked[name].update(labels.items())
        return super().total(name, **labels)

    def by_position(self, name: str, label: str) -> tuple[int, ...] | None:
        self._asked[name].add((label, None))
        return super().by_position(name, label)

    def kept(self) -> tuple[Difference, ...]:
        """The counters that were asked for, summed over every other label. Raises NotImported where they are too many."""
        found: defaultdict[tuple[str, Labels], int] = defaultdict(int)
        for (name, labels), value in self.series.items():
            if name in self._asked:
                asked = self._asked[name]
                found[name, frozenset(each for each in labels if each in asked or (each[0], None) in asked)] += int(value)
        if len(found) > MOST_SERIES:
            raise NotImported(TOO_LONG)
        return tuple(Difference(name=name, labels=dict(sorted(labels)), by=value) for (name, labels), value in found.items())


def moved_by(kept: Iterable[Difference]) -> Moved:
    return Moved({(each.name, frozenset(each.labels.items())): float(each.by) for each in kept})
