"""What can be done with runs: submit, look, cancel, report."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast
from weakref import WeakValueDictionary

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.principal import Principal
from app.access.seen import Seen, Who, narrowed
from app.domain.spec import RunSpec
from app.domain.status import FINAL, RunState
from app.errors import AppError, Conflict, DatabaseUnavailable, NotFound, TooMany
from app.queue import leases
from app.reports.build import measured
from app.reports.kept import Measured
from app.reports.record import RunRecord
from app.reports.report import Report
from app.runners_registry.service import Registry
from app.runs import key_store, records, store
from app.runs.analysis import analysis
from app.runs.request_rows import Gone
from app.runs.schemas import EventOut, RunFilter, RunPage, RunSummary
from app.runs.summary import summary_of
from app.storage.database import Database
from app.storage.notifications import Notifications

LARGEST = 2**63 - 1
logger = logging.getLogger(__name__)


class NoSuchRun(NotFound):
    """There is no such run"""


class AlreadyEnded(Conflict):
    """This run has ended already"""


class NotFinished(Conflict):
    """This run has no figures yet"""


class FactsGone(AppError):
    """The raw facts of this run were deleted"""

    status = 410


class Runs(Seen):
    def __init__(self, database: Database, registry: Registry, notifications: Notifications, *, queued_per_token: int) -> None:
        self._database = database
        self._registry = registry
        self._notifications = notifications
        self._queued_per_token = queued_per_token
        self._unreportable: set[int] = set()
        # By run; shared by all that see a part of the runs.
        self._turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    # --- submitting ---------------------------------------------------------------------------------------------------------------------

    async def submit(self, spec: RunSpec, *, principal: Principal, idempotency_key: str | None = None) -> tuple[RunSummary, bool]:
        """A queued run, and whether it is new: the same key gives the same run.

        Raises KeyReused for the same key with another body, NobodyOffers, NotOffered, TooMany.
        """
        principal.need("submit")
        run = await self._repeated(spec, principal, idempotency_key)
        if run is not None:
            return await self.get(run), False
        full = await self._registry.check(spec, principal.home)
        run, created = await self._add(spec, full, principal, idempotency_key)
        return await self.get(run), created

    async def _repeated(self, spec: RunSpec, principal: Principal, key: str | None) -> int | None:
        if key is None:
            return None
        async with self._database.transaction() as connection:
            kept = await key_store.find(connection, principal.key, key)
        return None if kept is None else kept.same("run", spec.model_dump(mode="json"))

    async def _add(self, asked: RunSpec, spec: RunSpec, principal: Principal, key: str | None) -> tuple[int, bool]:
        """`asked` is what the same key must ask for again; `spec` says it in full."""
        body = asked.model_dump(mode="json")
        async with self._database.transaction() as connection:
            if key is not None:
                await key_store.lock(connection, principal.key, key)
                kept = await key_store.find(connection, principal.key, key)
                if kept is not None:
                    return kept.same("run", body), False
            if await store.queued_by(connection, principal.home, principal.name) >= self._queued_per_token:
                raise TooMany(f"{self._queued_per_token} runs of {principal.name} wait already; wait for some or cancel them.")
            run = await store.add(connection, principal.home, spec, principal.name)
            if key is not None:
                await key_store.keep(connection, principal.key, key, body, run=run)
        return run, True

    # --- looking ------------------------------------------------------------------------------------------------------------------------

    async def get(self, run: int) -> RunSummary:
        async with self._about(run) as connection:
            row = await store.find(connection, self.view, run)
            if row is None:
                raise await self._missing(connection, run)
        return summary_of(row, await self._registry.known() if row.state == RunState.QUEUED else ())

    async def page(self, filter: RunFilter) -> RunPage:
        """One page of the runs that match, and how many do not: what is hidden is always counted."""
        async with self._database.transaction() as connection:
            rows = await store.page(connection, self.view, filter)
            total = await store.total(connection, self.view, filter)
            facets = {name: await store.facet(connection, self.view, name, filter) for name in store.facets()}
            everything = await store.total(connection, self.view, RunFilter())
            plain = [await store.facet(connection, self.view, name, RunFilter()) for name in ("state", "outcome")]
            counts = {name: n for facet in plain for name, n in facet.items()}
        known = await self._registry.known() if any(row.state == RunState.QUEUED for row in rows) else ()
        shown = [summary_of(row, known) for row in rows[: filter.limit]]
        more = shown[-1].id if len(rows) > filter.limit else None
        return RunPage(items=shown, total=total, hidden=everything - total, facets=facets, counts={"all": everything, **counts}, next_cursor=more)

    async def events(self, run: int, after: int = 0) -> list[EventOut]:
        async with self._about(run) as connection:
            return await store.events_after(connection, run, after)

    async def wait(self, run: int, timeout: float) -> bool:
        """Until something happens to a run, `timeout` seconds at most. False once the service is stopping: whoever watches should let go."""
        await self._notifications.wait(f"run:{run}", timeout)
        return not self._notifications.stopping.is_set()

    @asynccontextmanager
    async def _about(self, run: int) -> AsyncIterator[AsyncConnection]:
        """A transaction about one run of the view. Raises NoSuchRun, also for a number that the database could not even compare."""
        async with self._database.transaction() as connection:
            if not (0 < run <= LARGEST and await store.exists(connection, self.view, run)):
                raise await self._missing(connection, run)
            yield connection

    async def _missing(self, connection: AsyncConnection, run: int) -> NoSuchRun:
        newest = await store.newest(connection, self.view)
        return NoSuchRun(f"There is no run {run}. " + ("There are no runs yet." if newest is None else f"The newest is {newest}."))

    # --- cancelling ---------------------------------------------------------------------------------------------------------------------

    async def cancel(self, run: int, *, principal: Principal) -> RunSummary:
        """Ends a run at once; its runner hears of it at its next beat. Cancelling twice is cancelling once. Raises NoSuchRun, AlreadyEnded."""
        principal.need("submit")
        async with self._about(run) as connection:
            before = await leases.cancel(connection, self.view, run, principal.name)
            if before is None:
                raise await self._missing(connection, run)
        if before in FINAL and before != RunState.CANCELLED:
            raise AlreadyEnded(f"Run {run} has {before} already; there is nothing to cancel.")
        return await self.get(run)

    # --- reports ------------------------------------------------------------------------------------------------------------------------

    async def record(self, run: int, *, whole: bool = False) -> RunRecord:
        """A `whole` one holds the answers too. Raises NoSuchRun, FactsGone."""
        try:
            async with self._about(run) as connection, self._database.beside() as beside:
                await self._require_facts(connection, run)
                found = await records.record(connection, beside, self.view, run, whole=whole)
                if found is None:
                    raise await self._missing(connection, run)
        except Gone:
            # They were there a moment ago; now it is known since when they are not.
            return await self.record(run, whole=whole)
        return found

    @staticmethod
    async def _require_facts(connection: AsyncConnection, run: int) -> None:
        gone = await records.forgotten_at(connection, run)
        if gone is not None:
            said = f"The raw facts of run {run} were deleted on {gone:%Y-%m-%d}; its report is kept. Repeat the run to have them again."
            raise FactsGone(said, run=run)

    async def measured(self, run: int) -> Measured:
        """What comparisons need, of this very analysis: kept once the run has ended, computed anew until then. Raises NoSuchRun, FactsGone."""
        kept = await self._kept(run)
        if kept is not None:
            return kept
        async with self._turn(run):
            return await self._kept(run) or await self._rebuild(run)

    async def _kept(self, run: int) -> Measured | None:
        async with self._about(run) as connection:
            await self._require_facts(connection, run)
            return await records.measured(connection, run, analysis())

    def _turn(self, run: int) -> asyncio.Lock:
        """Whoever wants a report that is just being made waits for it."""
        return self._turns.setdefault(run, asyncio.Lock())

    async def report(self, run: int) -> Report:
        """The report of this very analysis: kept once the run has ended, computed anew until then. Of a run whose facts are gone the last one."""
        kept = await self._cached(run)
        if kept is not None:
            return kept
        async with self._turn(run):
            return await self._cached(run) or (await self._rebuild(run)).report

    async def _cached(self, run: int) -> Report | None:
        async with self._about(run) as connection:
            kept = await records.cached(connection, run, analysis())
            gone = await records.forgotten_at(connection, run) if kept is None else None
        if gone is not None:
            raise FactsGone(
                f"The report of run {run} was kept by an earlier version, and this one cannot read it; the raw facts were deleted on "
                f"{gone:%Y-%m-%d}. Repeat the run to have them again.",
                run=run,
            )
        return kept

    async def _rebuild(self, run: int) -> Measured:
        found = await self.record(run)
        made = await asyncio.to_thread(measured, found)
        if found.state in FINAL:
            outcome = made.report.verdict.outcome if found.state == RunState.SUCCEEDED else None
            async with self._database.transaction() as connection:
                await records.keep(connection, made.report, made.kept, analysis(), outcome)
        return made

    async def prepare_report(self, run: int) -> None:
        """Computes a report ahead of its first reader. A fault is logged once and met again, as an error, by whoever asks for the report."""
        try:
            await self.report(run)
            async with self._database.transaction() as connection:
                kin = await records.settled_kin(connection, run, analysis())
            for other in kin:
                # The last run of a campaign to end decides how large the family is that every other one of it is weighed in.
                with contextlib.suppress(FactsGone):
                    await self._rebuild(other)
        except DatabaseUnavailable:
            raise
        except Exception:
            self._unreportable.add(run)
            logger.exception("the report of run %s could not be computed", run, extra={"run": run})

    async def prepare_reports(self, limit: int = 5) -> None:
        """Reports that are missing or come from another analysis, a few at a time."""
        async with self._database.transaction() as connection:
            stale = await records.unreported(connection, analysis(), limit + len(self._unreportable))
        for run in [run for run in stale if run not in self._unreportable][:limit]:
            await self.prepare_report(run)


def runs_service(request: Request, who: Who) -> Runs:
    return narrowed(request, Runs, who)


def reporting(request: Request) -> Runs:
    """For what follows a finish, whose caller has a token of the attempt and may see nothing."""
    return cast(Runs, request.app.state.runs)
