"""A benchmark, what it aims at, and the rows that it leaves in build/bench.json."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from app.domain.estimate import Estimate
from app.domain.value import Value


class NotMeasured(RuntimeError):
    """Nothing comparable can be measured here; the message says what is missing or differs."""


class Row(Value):
    """`met` is None where the interval holds the aim on both sides, or where there is no interval. Absent is None, never 0."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    aim: str
    met: bool | None


@dataclass(frozen=True)
class Aim:
    """A bound that a figure shall reach (≥) or not exceed (≤), bound included. `unit` is the figure's and the bound's."""

    sense: Literal["≥", "≤"]
    bound: float
    unit: str = "ratio"

    def __str__(self) -> str:
        return f"{self.sense} {self.bound:g}"

    def met(self, low: float | None, high: float | None) -> bool | None:
        if low is None or high is None:
            return None
        if self.sense == "≥":
            reached, missed = low >= self.bound, high < self.bound
        else:
            reached, missed = high <= self.bound, low > self.bound
        return reached if reached or missed else None

    def row(self, name: str, found: Estimate | None) -> Row:
        """The row of a figure; of none where nothing was measured."""
        value, low, high = (None, None, None) if found is None else (found.point, found.low, found.high)
        return Row(name=name, value=value, low=low, high=high, unit=self.unit, aim=str(self), met=self.met(low, high))


@dataclass(frozen=True)
class Benchmark:
    """`aims` by the name of the row; `measure` gives an estimate for each of them, or raises NotMeasured. One that is `named` runs only where it
    is asked for by its name. One that `compiles` runs behind all others: torch does not run quite as before in a process that has compiled."""

    name: str
    aims: Mapping[str, Aim]
    measure: Callable[[], Mapping[str, Estimate]]
    named: bool = False
    compiles: bool = False

    def rows(self, found: Mapping[str, Estimate]) -> list[Row]:
        """One row for each aim, without a value where nothing was found. Raises KeyError for a figure without an aim."""
        if stray := found.keys() - self.aims.keys():
            raise KeyError(f"{self.name} measured {', '.join(sorted(stray))}, of which it declares no aim")
        return [aim.row(name, found.get(name)) for name, aim in self.aims.items()]
