"""Seconds of whole steps by rows in the batch and tokens drafted, as far as they were measured, and between the measured ones."""

import statistics
from collections import deque
from collections.abc import Mapping
from itertools import accumulate

KEPT = 31


class StepTimes:
    """A cell is (rows, width): `width` is the longest draft among the rows of a step, since one forward verifies them all. Its value is the median of
    the last measurements, so that one slow step moves nothing."""

    def __init__(self) -> None:
        self._seen: dict[int, dict[int, deque[float]]] = {}

    def add(self, rows: int, width: int, seconds: float) -> None:
        self._seen.setdefault(rows, {}).setdefault(width, deque(maxlen=KEPT)).append(seconds)

    def copy(self) -> "StepTimes":
        other = StepTimes()
        other._seen = {rows: {width: deque(cell, KEPT) for width, cell in cells.items()} for rows, cells in self._seen.items()}
        return other

    def count(self, rows: int, width: int) -> int:
        return len(self._seen.get(rows, {}).get(width, ()))

    def curve(self, rows: int, longest: int) -> list[float] | None:
        """Seconds for widths 0 … `longest` at so many rows; None before anything was measured. Linear between batch sizes, outside the nearest."""
        if not self._seen:
            return None
        if rows in self._seen:
            return self._of(rows, longest)
        below, above = (max((r for r in self._seen if r < rows), default=None), min((r for r in self._seen if r > rows), default=None))
        if below is None or above is None:
            nearest = above if below is None else below
            assert nearest is not None
            return self._of(nearest, longest)
        low, high, place = self._of(below, longest), self._of(above, longest), (rows - below) / (above - below)
        return [a + (b - a) * place for a, b in zip(low, high, strict=True)]

    def _of(self, rows: int, longest: int) -> list[float]:
        cells = {width: statistics.median(cell) for width, cell in self._seen[rows].items()}
        # More positions never take less time; where they seem to, that is noise, and a lucky cell would draw drafts to its length.
        return list(accumulate((between(cells, width) for width in range(longest + 1)), max))


def between(cells: Mapping[int, float], width: int) -> float:
    """Linear between the nearest measured widths; past the last one the line of the last two goes on, unless it falls; with one it is level."""
    known = sorted(cells)
    below, above = max((w for w in known if w <= width), default=None), min((w for w in known if w >= width), default=None)
    if below is None:
        return cells[known[0]]
    if above is None:
        slope = (cells[known[-1]] - cells[known[-2]]) / (known[-1] - known[-2]) if len(known) > 1 else 0.0
        return cells[known[-1]] + max(0.0, slope) * (width - known[-1])
    if below == above:
        return cells[width]
    return cells[below] + (cells[above] - cells[below]) * (width - below) / (above - below)
