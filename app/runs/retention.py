"""Gives up raw facts of runs that ended long ago; their reports and figures stay. Off unless BEZMEN_KEEP_FACTS_DAYS is set."""

import logging

from sqlalchemy import delete, func, insert, select, text, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.status import FINAL
from app.runs.analysis import analysis
from app.storage.database import Database
from app.storage.fact_tables import batches, observations, reports, requests, trials
from app.storage.retention_tables import forgotten
from app.storage.tables import attempts, runs

logger = logging.getLogger(__name__)
LOCK = 0x62657A6F
# Runs in one round, and rows in one transaction: whoever uses the service meanwhile is not to notice.
RUNS = 20
ROWS = 2000
PERIOD_SECONDS = 60.0


class Retention:
    def __init__(self, database: Database, days: int | None, *, rows: int = ROWS) -> None:
        self._database = database
        self._days = days
        self._rows = rows

    async def sweep(self) -> int:
        """One round; how many runs lost their facts in it. Goes on where an earlier one was interrupted; nothing while another process sweeps."""
        if self._days is None:
            return 0
        async with self._database.transaction() as guard:
            if not await guard.scalar(text("SELECT pg_try_advisory_xact_lock(:lock)"), {"lock": LOCK}):
                return 0
            async with self._database.transaction() as connection:
                await self._mark(connection, self._days)
                begun = list(await connection.scalars(select(forgotten.c.run_id).where(forgotten.c.emptied_at.is_(None)).limit(RUNS)))
            for run in begun:
                await self._empty(run)
        if begun:
            logger.info("the raw facts of %s runs were deleted", len(begun))
        return len(begun)

    @staticmethod
    async def _mark(connection: AsyncConnection, days: int) -> None:
        """Only runs whose report is of this very analysis: it is the last one that they will have."""
        joined = runs.join(reports, reports.c.run_id == runs.c.id)
        old = runs.c.finished_at < func.now() - func.make_interval(0, 0, 0, days)
        here = select(forgotten.c.run_id).where(forgotten.c.run_id == runs.c.id).exists()
        wanted = (runs.c.state.in_(FINAL), old, reports.c.analysis == analysis(), ~here)
        # A report that is being computed anew is waited for, and not replaced any more afterwards.
        found = select(runs.c.id).select_from(joined).where(*wanted).order_by(runs.c.id).limit(RUNS).with_for_update(of=reports)
        for run in list(await connection.scalars(found)):
            await connection.execute(insert(forgotten).values(run_id=run))

    async def _empty(self, run: int) -> None:
        for table in (requests, trials, observations, batches):
            key = table.primary_key.columns
            own = attempts.c.run_id == run
            some = select(*key).select_from(table.join(attempts, attempts.c.id == table.c.attempt_id)).where(own).limit(self._rows)
            while True:
                async with self._database.transaction() as connection:
                    gone = await connection.execute(delete(table).where(tuple_(*key).in_(some)))
                if gone.rowcount < self._rows:
                    break
        async with self._database.transaction() as connection:
            await connection.execute(update(forgotten).where(forgotten.c.run_id == run).values(emptied_at=func.clock_timestamp()))
