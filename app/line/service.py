"""Runners with how quiet they are, and the runs that wait for them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from fastapi import Request

from app.access.seen import Seen, Who, narrowed
from app.domain.estimate import Estimate
from app.domain.probe import ProbeSpec
from app.domain.status import RunState
from app.line import store
from app.line.reasons import reason, reason_of_probe
from app.line.schemas import Floors, Quiet, RunnerView, Waiting, WaitingProbe
from app.runners_registry.schemas import KnownRunner
from app.runners_registry.service import Registry, shown
from app.runs.schemas import RunFilter, RunSummary
from app.runs.service import Runs
from app.storage.database import Database

MOST = 200


class Line(Seen):
    def __init__(self, database: Database, registry: Registry, runs: Runs) -> None:
        self._database = database
        self._registry = registry
        self._runs = runs

    async def runners(self) -> list[RunnerView]:
        """Every known runner, with the progress of the run that it is at where the reader may see that run."""
        known = await self._registry.known()
        async with self._database.transaction() as connection:
            disturbed, floors = await store.disturbed(connection, self.view), await store.floors(connection, self.view)
        found = []
        for one in known:
            at = None if one.run is None else (await self._runs.get(one.run)).progress
            found.append(RunnerView(**shown(one).model_dump(), offer=one.offer, quiet=_quiet(one.id, disturbed, floors), progress=at))
        return found

    async def waiting(self) -> list[Waiting]:
        """The line, first come first: MOST runs at most."""
        known = await self._registry.known()
        queued = (await self._runs.page(RunFilter(state=RunState.QUEUED, limit=MOST))).items
        return sorted((_waiting(run, known) for run in queued), key=lambda one: (one.position or 0, one.run))

    async def probes(self) -> list[WaitingProbe]:
        """The probes that wait, first come first: MOST at most."""
        known = await self._registry.known()
        async with self._database.transaction() as connection:
            rows = await store.probes_waiting(connection, self.view, MOST)
        return [_probe(row.id, row.created_at, ProbeSpec.model_validate(row.spec), known) for row in rows]

    async def probe(self, probe: int, since: datetime, spec: ProbeSpec) -> WaitingProbe:
        """Why one of them waits."""
        return _probe(probe, since, spec, await self._registry.known())


def _probe(probe: int, since: datetime, spec: ProbeSpec, known: list[KnownRunner]) -> WaitingProbe:
    reasons = tuple(reason_of_probe(spec, runner) for runner in known)
    startable = any(one.standing in {"busy", "free"} for one in reasons)
    return WaitingProbe(probe=probe, since=since, spec=spec, startable=startable, reasons=reasons)


def _quiet(runner: int, disturbed: Mapping[int, tuple[int, int]], floors: Mapping[int, Sequence[tuple[int, Any]]]) -> Quiet:
    trials, bad = disturbed.get(runner, (0, 0))
    found = [(run, Estimate.model_validate(floor)) for run, floor in floors.get(runner, ())]
    run, newest = found[0] if found else (None, None)
    return Quiet(trials=trials, disturbed=bad, noise_floor=newest, run=run, floors=spread(floor for _, floor in found))


def spread(floors: Iterable[Estimate]) -> Floors | None:
    """How far noise floors have moved from run to run, their intervals included."""
    found = [(one.point, one.low, one.high) for one in floors if one.point is not None and one.low is not None and one.high is not None]
    if not found:
        return None
    points, lows, highs = zip(*found, strict=True)
    uneven = sum(not low <= 1 <= high for _, low, high in found)
    return Floors(runs=len(found), least=min(points), most=max(points), low=min(lows), high=max(highs), uneven=uneven)


def _waiting(run: RunSummary, known: list[KnownRunner]) -> Waiting:
    reasons = tuple(reason(run.spec, runner) for runner in known)
    return Waiting(
        run=run.id, position=run.queue_position, since=run.created_at, spec=run.spec, why=run.waiting,
        startable=any(one.standing in {"busy", "free"} for one in reasons), reasons=reasons,
    )  # fmt: skip


def line_service(request: Request, who: Who) -> Line:
    return narrowed(request, Line, who)
