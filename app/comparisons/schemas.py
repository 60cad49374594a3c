"""What is asked of a comparison, and the one address that it has: the state of its page is in it, so that a link shows what its sender saw."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args
from urllib.parse import urlencode

from fastapi import Query

from app.errors import InvalidInput, did_you_mean

MOST = 8
# Longer numbers are not even looked for; no run has one.
DIGITS = 100
Position = Literal["at", "all", "given"]
Plotted = Literal["forest", "loads", "profiles", "positions", "lengths", "along", "spans", "fertility", "throughput", "latency"]
PLOTTED: tuple[str, ...] = get_args(Plotted)


@dataclass(frozen=True)
class Asked:
    """`runs` are ordered: the first is the one that the others are held against. No `figures` are all of them; no `load` is the lightest."""

    runs: tuple[int, ...]
    load: str | None = None
    position: Position = "at"
    figures: tuple[str, ...] = ()

    def canonical(self) -> "Asked":
        """The same comparison as everybody else's link has it: of the runs only the first has a place."""
        figures = tuple(name for name in PLOTTED if name in self.figures)
        return replace(self, runs=(*self.runs[:1], *sorted(self.runs[1:])), figures=() if len(figures) == len(PLOTTED) else figures)

    def shows(self, figure: str) -> bool:
        return not self.figures or figure in self.figures

    def query(self) -> str:
        said = {"runs": ",".join(map(str, self.runs))}
        said |= {} if self.load is None else {"load": self.load}
        said |= {} if self.position == "at" else {"position": self.position}
        said |= {"figure": ",".join(self.figures)} if self.figures else {}
        return urlencode(said, safe=",")

    def address(self, path: str = "/compare") -> str:
        return f"{path}?{self.query()}"


def asked(
    runs: Annotated[
        list[str], Query(max_length=100, description=f"2 to {MOST} runs: runs=41,42 or runs=41&runs=42. The others are held against the first.")
    ] = [],  # noqa: B006
    load: Annotated[str | None, Query(max_length=64, description="Of several loads the one at which runs are contrasted, as `loads` has it.")] = None,
    position: Annotated[Position, Query(description="Which acceptance by position the page draws; an answer holds all three.")] = "at",
    figure: Annotated[list[str], Query(max_length=100, description="The plots that the page shows; all without it.")] = [],  # noqa: B006
) -> Asked:
    """The query of page and API alike. Raises InvalidInput, saying what is wrong."""
    return Asked(tuple(ids(runs)), load or None, position, tuple(_plotted(figure)))


def ids(texts: Sequence[str]) -> list[int]:
    """["41,42", "43"] -> [41, 42, 43], each once. Raises InvalidInput, saying what is wrong: no number, or more than MOST runs."""
    for part in (parts := split(texts)):
        if not (part.isascii() and part.isdigit() and len(part) <= DIGITS):
            raise wrong("runs", f'"{part[:40]}" is no number of a run; name runs by their numbers, such as runs=41,42.')
    found = list(dict.fromkeys(map(int, parts)))
    if len(found) > MOST:
        raise wrong("runs", f"At most {MOST} runs can be compared at once; these are {len(found)}.")
    return found


def _plotted(texts: Sequence[str]) -> list[str]:
    for part in (parts := split(texts)):
        if part not in PLOTTED:
            raise wrong("figure", did_you_mean("plot", part[:40], PLOTTED))
    return list(dict.fromkeys(parts))


def split(texts: Sequence[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def too_few(runs: Sequence[int]) -> str:
    """What is said of fewer than two different runs."""
    named = f"run {runs[0]} alone" if runs else "no run"
    return f"A comparison is of 2 to {MOST} different runs; this names {named}."


def wrong(parameter: str, said: str) -> InvalidInput:
    return InvalidInput(said, fields=[{"parameter": parameter, "detail": said}])
