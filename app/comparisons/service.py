"""Runs side by side."""

import asyncio
from collections.abc import Sequence

from fastapi import Request

from app.access.seen import Seen, Who, narrowed
from app.domain.status import FINAL
from app.errors import Conflict, InvalidInput
from app.reports.compare import compare
from app.reports.report import Comparison
from app.runs.service import Runs

MOST = 8
# Longer numbers are not even looked for; no run has one.
DIGITS = 100


class CannotCompare(Conflict):
    """These runs cannot be compared yet"""


def ids(texts: Sequence[str]) -> list[int]:
    """["41,42", "43"] -> [41, 42, 43], each once. Raises InvalidInput, saying what is wrong: no number, or more than MOST runs."""
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    for part in parts:
        if not (part.isascii() and part.isdigit() and len(part) <= DIGITS):
            raise _wrong(f'"{part[:40]}" is no number of a run; name runs by their numbers, such as runs=41,42.')
    found = list(dict.fromkeys(map(int, parts)))
    if len(found) > MOST:
        raise _wrong(f"At most {MOST} runs can be compared at once; these are {len(found)}.")
    return found


def _wrong(said: str) -> InvalidInput:
    return InvalidInput(said, fields=[{"parameter": "runs", "detail": said}])


class Comparisons(Seen):
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def compare(self, ids: Sequence[int]) -> Comparison:
        """Contrasts of the first against the others. Raises InvalidInput below two or above MOST runs, CannotCompare while one is not finished."""
        wanted = list(dict.fromkeys(ids))
        if len(wanted) < 2:
            named = f"run {wanted[0]} alone" if wanted else "no run"
            raise _wrong(f"A comparison is of 2 to {MOST} different runs; this names {named}.")
        if len(wanted) > MOST:
            raise _wrong(f"At most {MOST} runs can be compared at once; these are {len(wanted)}.")
        records = [await self._runs.record(run) for run in wanted]
        waiting = [record for record in records if record.state not in FINAL]
        if waiting:
            raise CannotCompare(" ".join(f"Run {record.run} is {record.state}." for record in waiting))
        return await asyncio.to_thread(compare, records)


def comparisons_service(request: Request, who: Who) -> Comparisons:
    return narrowed(request, Comparisons, who)
