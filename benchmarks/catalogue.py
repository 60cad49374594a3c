"""Every benchmark that there is: a file in benchmarks/cases."""

from collections.abc import Mapping, Sequence

from app.discovery import values_of
from benchmarks.base import Benchmark


class UnknownBenchmark(ValueError):
    """There is no benchmark of that name; the message lists those that there are."""


def benchmarks() -> Mapping[str, Benchmark]:
    """By name. Raises TypeError where two have the same name or the same row."""
    found = values_of("benchmarks.cases", Benchmark, "BENCHMARK")
    rows = [name for each in found for name in each.aims]
    if len({each.name for each in found}) != len(found) or len(set(rows)) != len(rows):
        raise TypeError("two benchmarks have the same name or the same row")
    return {each.name: each for each in sorted(found, key=lambda each: each.compiles)}


def chosen(names: Sequence[str]) -> list[Benchmark]:
    """Those named, or without a name all that need none."""
    known = benchmarks()
    if unknown := [name for name in names if name not in known]:
        raise UnknownBenchmark(f"There is no benchmark {', '.join(unknown)}; there are {', '.join(known)}.")
    return [known[name] for name in names] or [each for each in known.values() if not each.named]
