"""The requests of a run: column by column for what looks at all of them, fact by fact for what looks at a few.

A column of numbers is float64 with NaN where its source gave none; only what every request has and what is counted from 0 without end is int64.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from typing import NamedTuple, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.domain.counts import Counts
from app.domain.facts import RequestFact

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]

TEXTS = ("arm", "purpose", "prompt", "profile", "parallel", "drafted_source", "finish", "output_digest")
WHOLES = ("trial", "order", "seed")
NUMBERS = (
    "prompt_tokens", "input_tokens", "prompt_characters", "prompt_words", "drafted", "verified", "accepted", "rounds", "undrafted", "prefill_tokens",
    "emitted", "discarded_bonus", "longest_draft", "planned_at", "sent_at", "first_at", "last_at", "draft_layer_passes", "verify_layer_passes",
    "prefill_layer_passes", "experts_read", "experts_chosen", "output_characters", "output_words",
)  # fmt: skip
LISTS = ("round_drafted", "round_verified", "round_depth", "round_slots", "round_step", "step_end", "step_tokens")


@dataclass(frozen=True)
class Texts:
    """`names[codes[i]]` is the text of request i; the last name is None, which the code −1 gives where there is none."""

    codes: Whole
    names: NDArray[np.object_]

    @classmethod
    def of(cls, values: Sequence[str | None]) -> "Texts":
        codes, names = pd.factorize(np.array(values, dtype=object))
        return cls(codes.astype(np.int64), np.array([*names, None], dtype=object))


@dataclass(frozen=True)
class Lists:
    """Lists of numbers one under the other: that of request i is `values[starts[i] : starts[i + 1]]`; `starts` is `[requests + 1]`. An absent list is
    empty, and not `told`."""

    values: Array
    starts: Whole
    told: Mask

    @classmethod
    def of(cls, lists: Sequence[Sequence[float] | None]) -> "Lists":
        lengths = [0 if each is None else len(each) for each in lists]
        values = np.fromiter(chain.from_iterable(each for each in lists if each is not None), dtype=np.float64)
        return cls(values, starts_of(lengths), np.array([each is not None for each in lists], dtype=bool))

    @cached_property
    def lengths(self) -> Whole:
        return np.diff(self.starts)

    @cached_property
    def owners(self) -> Whole:
        """Of each value the request."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths)

    def same(self, other: "Lists") -> bool:
        """Whether each list is the other's of the same place."""
        return all(np.array_equal(*both) for both in ((self.starts, other.starts), (self.values, other.values), (self.told, other.told)))

    def take(self, rows: Whole) -> "Lists":
        lengths = self.lengths[rows]
        starts = starts_of(lengths)
        return Lists(self.values[np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], lengths)], starts, self.told[rows])


def starts_of(lengths: Sequence[int] | Whole) -> Whole:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


class Answer(NamedTuple):
    """What a report says of a single request, and judges it by; the fields are those of its fact."""

    prompt: str
    profile: str
    parallel: str | None
    drafted: int | None
    verified: int | None
    rounds: int | None
    emitted: int
    answer_language: str | None
    answer_kind: str
    answer_letters: int
    repeated_share: float | None
    degenerate: bool | None


@dataclass(frozen=True)
class Table:
    """All requests of a run. `fact` gives one of them as a fact, by its row; `answers` several in brief."""

    texts: Mapping[str, Texts]
    wholes: Mapping[str, Whole]
    numbers: Mapping[str, Array]
    lists: Mapping[str, Lists]
    fact: Callable[[int], RequestFact]
    answers: Callable[[Whole], list[Answer]]


def brief(fact: RequestFact) -> Answer:
    return Answer(*(getattr(fact, name) for name in Answer._fields))


class Requests(Sequence[RequestFact]):
    """Some requests of a table, by their rows."""

    def __init__(self, table: Table, rows: Whole | None = None) -> None:
        self._table = table
        self._all = rows is None
        self.rows: Whole = np.arange(len(table.wholes["trial"])) if rows is None else rows

    @classmethod
    def of(cls, facts: Sequence[RequestFact]) -> "Requests":
        """The same requests, whatever they are kept as."""
        if isinstance(facts, Requests):
            return facts
        own = tuple(facts)
        return cls(
            Table(
                texts={name: Texts.of([getattr(fact, name) for fact in own]) for name in TEXTS},
                wholes={name: np.array([getattr(fact, name) for fact in own], dtype=np.int64) for name in WHOLES},
                numbers={name: np.array([getattr(fact, name) for fact in own], dtype=np.float64) for name in NUMBERS},
                lists={name: Lists.of([getattr(fact, name) for fact in own]) for name in LISTS},
                fact=own.__getitem__,
                answers=lambda rows: [brief(own[row]) for row in rows],
            )
        )

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> RequestFact: ...
    @overload
    def __getitem__(self, at: slice) -> "Requests": ...
    def __getitem__(self, at: int | slice) -> "RequestFact | Requests":
        return Requests(self._table, self.rows[at]) if isinstance(at, slice) else self._table.fact(int(self.rows[at]))

    def __iter__(self) -> Iterator[RequestFact]:
        return map(self._table.fact, self.rows.tolist())

    def answers(self) -> list[Answer]:
        return self._table.answers(self.rows)

    def counts(self) -> list[Counts]:
        """Those of each request; None where its source gave none."""
        names = [field.name for field in fields(Counts) if field.name in NUMBERS]
        told = [[None if math.isnan(value) else int(value) for value in self.number(name).tolist()] for name in names]
        return [Counts(requests=1, **dict(zip(names, each, strict=True))) for each in zip(*told, strict=True)]

    def where(self, mask: Mask) -> "Requests":
        return Requests(self._table, self.rows[mask])

    def at(self, places: Whole) -> "Requests":
        """Those at these places of this selection, in that order."""
        return Requests(self._table, self.rows[places])

    def codes(self, name: str) -> Whole:
        """Equal texts have equal codes; absent ones −1."""
        return self._taken(self._table.texts[name].codes)

    def text(self, name: str) -> NDArray[np.object_]:
        texts = self._table.texts[name]
        return texts.names[self._taken(texts.codes)]

    def told(self, name: str, *wanted: str) -> Mask:
        """Where a text is one of these."""
        found: Mask = np.array([each in wanted for each in self._table.texts[name].names])[self.codes(name)]
        return found

    def whole(self, name: str) -> Whole:
        return self._taken(self._table.wholes[name])

    def number(self, name: str) -> Array:
        numbers = self._table.numbers[name]
        return numbers if self._all else numbers[self.rows]

    def lists(self, name: str) -> Lists:
        found = self._table.lists[name]
        return found if self._all else found.take(self.rows)

    def keys(self, *names: str) -> Whole:
        """A number for each request that equal texts and wholes of these names share, over the whole table."""
        found = np.zeros(len(self.rows), dtype=np.int64)
        for name in names:
            texts = self._table.texts.get(name)
            codes, most = (texts.codes, len(texts.names)) if texts is not None else _ranked(self._table.wholes[name])
            found = found * most + self._taken(codes)
        return found

    def _taken(self, column: Whole) -> Whole:
        return column if self._all else column[self.rows]


def _ranked(wholes: Whole) -> tuple[Whole, int]:
    names, codes = np.unique(wholes, return_inverse=True)
    return codes.astype(np.int64), len(names)
