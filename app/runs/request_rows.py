"""The requests of an attempt read straight into columns: they were checked one by one when they came in, and lie under the rules of their table.

What no figure needs stays where it is: the texts of answers, and the ids of those that are the same in both arms.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from functools import cache
from typing import Any

import numpy as np
from sqlalchemy import ARRAY, BigInteger, any_, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.bounds import Purpose
from app.domain.facts import RequestFact
from app.metrics.columns import LISTS, NUMBERS, TEXTS, WHOLES, Array, Lists, Requests, Table, Texts, Whole, starts_of
from app.reports.losslessness import pairs_of, same_output
from app.storage.binary import DOUBLES, SMALLINTS, batches_of, values_of
from app.storage.fact_tables import requests

# What only facts taken one by one are asked for.
JUDGED_TEXTS, JUDGED = ("answer_language", "answer_kind"), ("answer_letters", "repeated_share", "degenerate")
FLOATS = frozenset({"planned_at", "sent_at", "first_at", "last_at", "repeated_share", "step_end"})
COMPARED: tuple[Purpose, ...] = ("headline", "losslessness")


async def read(connection: AsyncConnection, attempt: int) -> Requests:
    """All requests of an attempt, in the order in which they came."""
    reading = _Reading()
    rows = select(*(requests.c[name] for name in reading.names)).where(requests.c.attempt_id == attempt)
    async with aclosing(batches_of(connection, rows)) as batches:
        async for batch in batches:
            await asyncio.to_thread(reading.add, batch)
    return await _with_ids(connection, await asyncio.to_thread(_Read, reading))


class _Reading:
    """Batches of rows, column by column."""

    texts, wholes, numbers = (*TEXTS, *JUDGED_TEXTS), ("id", *WHOLES), (*NUMBERS, *JUDGED)
    names = (*texts, *wholes, *numbers, *LISTS)

    def __init__(self) -> None:
        self.known: dict[str, dict[str, int]] = {name: {} for name in self.texts}
        self.parts: dict[str, list[Any]] = {name: [] for name in self.names}
        self.lengths: dict[str, list[Whole]] = {name: [] for name in LISTS}
        self.told: dict[str, list[Any]] = {name: [] for name in LISTS}

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        columns = dict(zip(self.names, zip(*rows, strict=True), strict=True))
        for name, known in self.known.items():
            codes = [-1 if text is None else known.setdefault(text, len(known)) for text in columns[name]]
            self.parts[name].append(np.array(codes, dtype=np.int64))
        for name in self.wholes:
            self.parts[name].append(np.array(columns[name], dtype=np.int64))
        for name in self.numbers:
            self.parts[name].append(np.array(columns[name], dtype=np.float64))
        for name in LISTS:
            values, lengths = values_of(columns[name], DOUBLES if name in FLOATS else SMALLINTS)
            self.parts[name].append(values)
            self.lengths[name].append(lengths)
            self.told[name].append(np.array([each is not None for each in columns[name]], dtype=bool))

    def column(self, name: str, kind: type[np.generic]) -> Any:
        """One under the other; the parts are let go."""
        parts = self.parts.pop(name)
        return np.concatenate(parts) if parts else np.empty(0, dtype=kind)


class _Read:
    """What was read, as a table in the order of ids; `output_ids` are there for the rows of which they were read."""

    def __init__(self, reading: _Reading) -> None:
        ids: Whole = reading.column("id", np.int64)
        order = np.argsort(ids, kind="stable")
        self.ids = ids[order]
        self.output_ids: dict[int, tuple[int, ...] | None] = {}
        self._texts = {name: Texts(reading.column(name, np.int64)[order], _names(reading.known[name])) for name in reading.texts}
        self._wholes = {name: reading.column(name, np.int64)[order] for name in WHOLES}
        self._numbers: dict[str, Array] = {name: reading.column(name, np.float64)[order] for name in reading.numbers}
        self._lists = {name: _lists(reading, name, order) for name in LISTS}
        self.table = Table(self._texts, self._wholes, self._numbers, self._lists, fact=cache(self._fact))

    def _fact(self, row: int) -> RequestFact:
        values: dict[str, Any] = {name: texts.names[texts.codes[row]] for name, texts in self._texts.items()}
        values |= {name: int(wholes[row]) for name, wholes in self._wholes.items()}
        values |= {name: _number(name, numbers[row].item()) for name, numbers in self._numbers.items()}
        values |= {name: self._list(name, row) for name in LISTS}
        return RequestFact.model_construct(**values, output_ids=self.output_ids.get(row))

    def _list(self, name: str, row: int) -> tuple[float, ...] | None:
        lists = self._lists[name]
        own = lists.values[lists.starts[row] : lists.starts[row + 1]].tolist()
        return tuple(own if name in FLOATS else map(int, own)) if lists.told[row] else None


def _names(known: dict[str, int]) -> Any:
    return np.array([*known, None], dtype=object)


def _number(name: str, value: float) -> float | bool | None:
    if np.isnan(value):
        return None
    return value if name in FLOATS else bool(value) if name == "degenerate" else int(value)


def _lists(reading: _Reading, name: str, order: Whole) -> Lists:
    empty = [np.empty(0, dtype=np.int64)]
    found = Lists(
        reading.column(name, np.float64), starts_of(np.concatenate(reading.lengths[name] or empty)), np.concatenate(reading.told[name] or empty) > 0
    )
    return found if (order[1:] > order[:-1]).all() else found.take(order)


async def _with_ids(connection: AsyncConnection, found: _Read) -> Requests:
    """With the output ids of answers that part from plain's: where they do so, nothing else tells."""
    every = Requests(found.table)
    apart = np.unique(np.concatenate([_apart(every, purpose) for purpose in COMPARED]))
    if len(apart):
        numbers = literal(found.ids[apart].tolist(), ARRAY(BigInteger))
        wanted = select(requests.c.id, requests.c.output_ids).where(requests.c.id == any_(numbers))
        told = {row.id: row.output_ids for row in await connection.execute(wanted)}
        found.output_ids |= {int(row): None if (ids := told[found.ids[row]]) is None else tuple(ids) for row in apart}
    return every


def _apart(every: Requests, purpose: Purpose) -> Whole:
    """Rows of the answers that are not the same in both arms, and of those in plain."""
    plain, own = pairs_of(every, purpose)
    differ = ~same_output(plain, own)
    return np.concatenate([plain.rows[differ], own.rows[differ]])
