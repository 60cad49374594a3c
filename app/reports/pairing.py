"""Which runs of a comparison are contrasted with which: like with like, and at the same load wherever there is one."""

from collections.abc import Sequence

from app.domain.passport import Passport
from app.domain.spec import Load
from app.reports.axes import but_load
from app.reports.loads import slug

Places = list[int]


def series_of(passports: Sequence[Passport]) -> list[Places]:
    """Places of runs that differ in load alone, from light to heavy; the series of the first run comes first."""
    found: dict[tuple[str, ...], Places] = {}
    for place, passport in enumerate(passports):
        found.setdefault(but_load(passport), []).append(place)
    return [sorted(places, key=lambda place: weight(passports[place].load)) for places in found.values()]


def weight(load: Load) -> tuple[str, float, float, int]:
    """Orders loads of one kind by how heavy they are."""
    return (load.kind, load.rate or float(load.concurrency), load.burstiness or 1.0, load.concurrency)


def pairs_of(series: Sequence[Places], loads: Sequence[Load]) -> list[tuple[int, int]]:
    """Every other series against the first one, at each load that both have; at whatever loads there are where they have none in common. Of a single
    series every other run against the first that was named."""
    first, *others = series
    if not others:
        return [(0, place) for place in sorted(first) if place != 0]
    found = []
    for other in others:
        common = [(a, b) for a in first for b in other if loads[a] == loads[b]]
        # A load that was measured twice counts once.
        found += list({loads[a]: (a, b) for a, b in reversed(common)}.values())[::-1] or [(_named(first), _named(other))]
    return sorted(found, key=lambda pair: weight(loads[pair[0]]))


def _named(places: Places) -> int:
    return min(places)


def loads_of(pairs: Sequence[tuple[int, int]], series: Sequence[Places], loads: Sequence[Load]) -> tuple[str, ...]:
    """The loads between which one may choose: those of pairs, if there is more than one."""
    found = tuple(dict.fromkeys(slug(loads[a]) for a, b in pairs if loads[a] == loads[b])) if len(series) > 1 else ()
    return found if len(found) > 1 else ()
