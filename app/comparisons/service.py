"""Runs side by side."""

import asyncio
from collections.abc import Sequence
from typing import cast

from fastapi import Request

from app.domain.status import FINAL
from app.errors import Conflict, InvalidInput
from app.reports.compare import compare
from app.reports.report import Comparison
from app.runs.service import Runs

MOST = 12


class CannotCompare(Conflict):
    """These runs cannot be compared yet"""


class Comparisons:
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def compare(self, ids: Sequence[int]) -> Comparison:
        """Contrasts of the first against the others. Raises InvalidInput below two or above MOST runs, CannotCompare while one is not finished."""
        wanted = list(dict.fromkeys(ids))
        if not 2 <= len(wanted) <= MOST:
            raise InvalidInput(f"Name 2 to {MOST} different runs.", fields=[{"parameter": "runs", "detail": f"{len(wanted)} different runs"}])
        records = [await self._runs.record(run) for run in wanted]
        waiting = [record for record in records if record.state not in FINAL]
        if waiting:
            raise CannotCompare(" ".join(f"Run {record.run} is {record.state}." for record in waiting))
        return await asyncio.to_thread(compare, records)


def comparisons_service(request: Request) -> Comparisons:
    return cast(Comparisons, request.app.state.comparisons)
