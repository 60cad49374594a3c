"""The requests of an attempt read straight into columns: they were checked one by one when they came in, and lie under the rules of their table.

What no figure needs stays where it is: the texts of answers, and the ids of those that are the same in both arms.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import ARRAY, BigInteger, ColumnElement, any_, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.bounds import Purpose
from app.domain.facts import RequestFact
from app.metrics.columns import LISTS, NUMBERS, TEXTS, Answer, Array, Lists, Requests, Table, Texts, Whole, starts_of
from app.reports.losslessness import pairs_of, same_output
from app.storage.binary import ABSENT, DOUBLES, SMALLINTS, Packed, Wire, arrays, hashing, in_thread, joined, number, text, unpack, whole
from app.storage.fact_tables import requests

# What only facts taken one by one are asked for.
JUDGED_TEXTS, JUDGED = ("answer_language", "answer_kind"), ("answer_letters", "repeated_share", "degenerate")
FLOATS = frozenset({"planned_at", "sent_at", "first_at", "last_at", "repeated_share", "step_end"})
COMPARED: tuple[Purpose, ...] = ("headline", "losslessness")
# What tells one request from its repeats. All else equal ones have in common, so that it is told once for all of them.
TIMES = ("planned_at", "sent_at", "first_at", "last_at")
PLACES = ("trial", "order")
COMMON = tuple(name for name in (*TEXTS, *JUDGED_TEXTS, "seed", *NUMBERS, *JUDGED, *LISTS) if name not in {*TIMES, "step_end"})
# Numbers of a list that the database tells at once: one value of it can hold no more than 1 GB.
AT_ONCE = 16_000_000

ID = whole(requests.c.id, "int8")
OWN: dict[str, Packed] = {
    "id": ID,
    "steps": whole(func.cardinality(requests.c.step_end)),
    **{name: whole(requests.c[name]) for name in PLACES},
    **{name: number(requests.c[name], requests.c[name]) for name in TIMES},
}
ENDS = {"id": ID, "step_end": arrays(requests.c.step_end, DOUBLES)}


class Gone(LookupError):
    """Facts of this run were deleted while its report was made of them"""


async def read(connection: AsyncConnection, beside: AsyncConnection, attempt: int) -> Requests:
    """All requests of an attempt, in the order in which they came. Of two connections each reads its part at the same time."""
    async with hashing(connection), hashing(beside):
        found = await in_thread((connection, beside), partial(_read, attempt=attempt))
    return await _with_ids(connection, found)


def _read(wire: Wire, beside: Wire, *, attempt: int) -> "_Read":
    """While the database answers, what it told before is unpacked. Requests that come in meanwhile are left out."""
    own = requests.c.attempt_id == attempt
    with ThreadPoolExecutor(max_workers=1) as line, ThreadPoolExecutor(max_workers=1) as other:
        rows = unpack(OWN, line.submit(wire.ask, OWN, own).result())
        ids = np.sort(rows["id"])
        parts = [own & part for part in _parts(ids, int(rows["steps"].max(initial=0)))]
        common = [(packed, other.submit(beside.ask, packed)) for packed in map(_common, parts)]
        ends = [line.submit(wire.ask, ENDS, part) for part in parts]
        step_end = _ends([unpack(ENDS, each.result()) for each in ends], ids)
        found = _Read(ids, [unpack(packed, each.result()) for packed, each in common])
    order = np.argsort(rows["id"], kind="stable")
    found.wholes |= {name: rows[name][order] for name in PLACES}
    found.numbers |= {name: rows[name][order] for name in TIMES}
    found.lists["step_end"] = step_end
    return found


def _parts(ids: Whole, steps: int) -> Iterator[ColumnElement[bool]]:
    """Conditions for all requests of these ids, of which none has more steps."""
    size = max(AT_ONCE // max(steps, 1), 1)
    for first in range(0, len(ids), size):
        yield requests.c.id.between(int(ids[first]), int(ids[min(first + size, len(ids)) - 1]))


def _common(part: ColumnElement[bool]) -> dict[str, Packed]:
    """Of each combination of what requests have in common: how many have it, their ids, and what it is."""
    names = [requests.c[name] for name in COMMON]
    each = select(*names, func.count().label("times"), ID.columns[0].label("id")).where(part).group_by(*names).subquery()
    return {
        "times": whole(each.c.times, "int8"),
        "id": Packed((joined(each.c.id),), ID.unpack),
        "seed": whole(each.c.seed),
        **{name: text(each.c[name]) for name in (*TEXTS, *JUDGED_TEXTS)},
        **{name: number(each.c[name], requests.c[name]) for name in (*NUMBERS, *JUDGED) if name in COMMON},
        **{name: arrays(each.c[name], SMALLINTS) for name in LISTS if name in COMMON},
    }


def _ends(parts: Sequence[Mapping[str, Any]], ids: Whole) -> Lists:
    return _lists(parts, "step_end").take(_places([part["id"] for part in parts], ids))


def _lists(parts: Sequence[Mapping[str, Any]], name: str) -> Lists:
    """The arrays of all parts, one under the other."""
    lengths = _one([part[name][1] for part in parts])
    values = np.concatenate([np.empty(0), *(part[name][0] for part in parts)])
    return Lists(values, starts_of(np.maximum(lengths, 0)), lengths >= 0)


def _one(parts: Sequence[Whole]) -> Whole:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def _places(parts: Sequence[Whole], ids: Whole) -> Whole:
    """Where each of these ids stands among those of the parts. Raises Gone."""
    own = _one(parts)
    order = np.argsort(own, kind="stable")
    found = np.searchsorted(own[order], ids)
    if len(ids) and (found.max() == len(own) or not np.array_equal(own[order[found]], ids)):
        raise Gone("Facts of this run were deleted while its report was made of them.")
    return order[found]


class _Read:
    """What was read, as a table in the order of ids; `output_ids` are there for the rows of which they were read."""

    def __init__(self, ids: Whole, common: Sequence[Mapping[str, Any]]) -> None:
        self.ids = ids
        self.output_ids: dict[int, tuple[int, ...] | None] = {}
        times = _one([part["times"] for part in common])
        rows = np.repeat(np.arange(len(times)), times)[_places([part["id"] for part in common], ids)]
        self.texts = {name: _coded([part[name] for part in common], rows) for name in (*TEXTS, *JUDGED_TEXTS)}
        self.wholes: dict[str, Whole] = {"seed": _one([part["seed"] for part in common])[rows]}
        self.numbers: dict[str, Array] = {
            name: np.concatenate([np.empty(0), *(part[name] for part in common)])[rows] for name in (*NUMBERS, *JUDGED) if name in COMMON
        }
        self.lists = {name: _lists(common, name).take(rows) for name in LISTS if name in COMMON}
        self.table = Table(self.texts, self.wholes, self.numbers, self.lists, fact=cache(self._fact), answers=self._answers)

    def _fact(self, row: int) -> RequestFact:
        values: dict[str, Any] = {name: texts.names[texts.codes[row]] for name, texts in self.texts.items()}
        values |= {name: int(wholes[row]) for name, wholes in self.wholes.items()}
        values |= {name: _number(name, numbers[row].item()) for name, numbers in self.numbers.items()}
        values |= {name: self._list(name, row) for name in LISTS}
        return RequestFact.model_construct(**values, output_ids=self.output_ids.get(row))

    def _answers(self, rows: Whole) -> list[Answer]:
        return list(map(Answer, *(self._taken(name, rows) for name in Answer._fields)))

    def _taken(self, name: str, rows: Whole) -> list[Any]:
        if name in self.texts:
            texts = self.texts[name]
            return list(texts.names[texts.codes[rows]])
        return [_number(name, value) for value in self.numbers[name][rows].tolist()]

    def _list(self, name: str, row: int) -> tuple[float, ...] | None:
        lists = self.lists[name]
        own = lists.values[lists.starts[row] : lists.starts[row + 1]].tolist()
        return tuple(own if name in FLOATS else map(int, own)) if lists.told[row] else None


def _coded(parts: Sequence[Sequence[bytes]], rows: Whole) -> Texts:
    """The texts of all parts, as these rows have them. Codes are in the order of first appearance."""
    every = np.array([text for part in parts for text in part], dtype=object)
    kinds, found = pd.factorize(every)
    codes, used = pd.factorize(kinds[rows])
    names = [None if text == ABSENT else text.decode() for text in found[used].tolist()]
    if None in names:
        absent = names.index(None)
        codes = np.where(codes == absent, -1, codes - (codes > absent))
        del names[absent]
    return Texts(codes.astype(np.int64), np.array([*names, None], dtype=object))


def _number(name: str, value: float) -> float | bool | None:
    if np.isnan(value):
        return None
    return value if name in FLOATS else bool(value) if name == "degenerate" else int(value)


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
