"""Runs side by side."""

import asyncio
from collections.abc import Sequence

from fastapi import Request

from app.access.seen import Seen, Who, narrowed
from app.comparisons.schemas import MOST, too_few, wrong
from app.domain.status import FINAL
from app.errors import Conflict
from app.reports.compare import NoSuchLoad, contrast
from app.reports.kept import Measured
from app.reports.report import Comparison
from app.runs.service import Runs

AT_ONCE = 2


class CannotCompare(Conflict):
    """These runs cannot be compared yet"""


class Comparisons(Seen):
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def compare(self, ids: Sequence[int], load: str | None = None) -> Comparison:
        """The first against the others, at one load. Raises InvalidInput below two or above MOST runs and for a load at which there is no pair,
        CannotCompare while one is not finished."""
        wanted = list(dict.fromkeys(ids))
        if len(wanted) < 2:
            raise wrong("runs", too_few(wanted))
        if len(wanted) > MOST:
            raise wrong("runs", f"At most {MOST} runs can be compared at once; these are {len(wanted)}.")
        runs = await self._measured(wanted)
        waiting = [run.report for run in runs if run.report.state not in FINAL]
        if waiting:
            raise CannotCompare(" ".join(f"Run {report.run} is {report.state}." for report in waiting))
        try:
            return await asyncio.to_thread(contrast, runs, load)
        except NoSuchLoad as error:
            there = f"there are {', '.join(error.known)}" if error.known else "there is no load to choose from, so leave it out"
            raise wrong("load", f'No pair of these runs was measured at load "{load}"; {there}.') from error

    async def _measured(self, ids: Sequence[int]) -> list[Measured]:
        """All of them, two at a time: while the database tells the facts of one, the figures of another are computed."""
        turns = asyncio.Semaphore(AT_ONCE)

        async def measured(run: int) -> Measured:
            async with turns:
                return await self._runs.measured(run)

        found = await asyncio.gather(*map(measured, ids), return_exceptions=True)
        return [_or_raise(each) for each in found]


def _or_raise(found: Measured | BaseException) -> Measured:
    if isinstance(found, BaseException):
        raise found
    return found


def comparisons_service(request: Request, who: Who) -> Comparisons:
    return narrowed(request, Comparisons, who)
