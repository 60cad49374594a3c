"""Looks after what nobody else does: leases that ran out, endless runs, jobs without owner or run, old keys. One process at a time, under a lock."""

import logging

from procrastinate.jobs import Job, Status
from sqlalchemy import delete, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.status import FINAL, RUN_SECONDS, RunState
from app.queue import jobs, leases
from app.storage.database import Database
from app.storage.tables import attempts, idempotency_keys, runs

logger = logging.getLogger(__name__)

LOCK = 0x62657A6E
KEYS_KEPT = "7 days"
# How the reason of an attempt begins whose runner was lost.
SILENT = "The runner went silent"


def silent(seconds: float) -> str:
    return f"{SILENT} for {seconds:.0f} s."


class Sweeper:
    def __init__(self, database: Database, lease_seconds: float, run_seconds: float = RUN_SECONDS) -> None:
        self._database = database
        self._lease_seconds = lease_seconds
        self._run_seconds = run_seconds

    @property
    def period(self) -> float:
        return min(5.0, self._lease_seconds / 3)

    async def sweep(self) -> int:
        """One round; how many attempts were lost in it. Does nothing while another process sweeps."""
        async with self._database.transaction() as guard:
            if not await guard.scalar(text("SELECT pg_try_advisory_xact_lock(:lock)"), {"lock": LOCK}):
                return 0
            lost = await self._expire()
            await self._end_overlong()
            await self._adopt()
            await self._reconcile()
            await guard.execute(delete(idempotency_keys).where(idempotency_keys.c.created_at < func.now() - text(f"interval '{KEYS_KEPT}'")))
        return lost

    async def expire(self, attempt: int) -> bool:
        """Ends one attempt if its lease ran out; whether it did."""
        async with self._database.transaction() as connection:
            held = await leases.hold(connection, attempt)
            if held is None or not held.live or not held.expired:
                return False
            await leases.lose(connection, held, "lost", silent(self._lease_seconds))
            return True

    async def _expire(self) -> int:
        overdue = select(attempts.c.id).where(attempts.c.state.in_(leases.LIVE), attempts.c.lease_expires_at < func.clock_timestamp())
        async with self._database.transaction() as connection:
            found = list(await connection.scalars(overdue.order_by(attempts.c.id)))
        return sum([await self.expire(attempt) for attempt in found])

    async def _end_overlong(self) -> None:
        """Runs that are measured side by side share their time."""
        group, member = func.coalesce(attempts.c.beside_id, attempts.c.id), attempts.alias("member")
        together = select(func.count()).where(func.coalesce(member.c.beside_id, member.c.id) == group).scalar_subquery()
        since = func.extract("epoch", func.clock_timestamp() - attempts.c.leased_at)
        overlong = select(attempts.c.id).where(attempts.c.state.in_(leases.LIVE), since > self._run_seconds * together)
        async with self._database.transaction() as connection:
            found = list(await connection.scalars(overlong.order_by(attempts.c.id)))
        for attempt in found:
            async with self._database.transaction() as connection:
                held = await leases.hold(connection, attempt)
                if held is not None and held.live:
                    said = f"The run took longer than the {self._run_seconds:.0f} s that it may take (BEZMEN_RUN_SECONDS); what was measured is kept."
                    await leases.stop(connection, held, "wall_time", said)

    async def _adopt(self) -> None:
        """Jobs that are being done by nobody: whoever fetched them is gone and no attempt of ours holds them."""
        async with self._database.transaction() as connection:
            for job in await jobs.stalled(connection, self._lease_seconds):
                await self._settle(connection, job)

    async def _settle(self, connection: AsyncConnection, job: Job) -> None:
        assert job.id is not None
        run = (await connection.execute(select(runs).where(runs.c.job_id == job.id).with_for_update(skip_locked=True))).one_or_none()
        if run is not None and run.state == RunState.QUEUED:
            logger.warning("job %s of run %s was being done by nobody; it waits again", job.id, run.id, extra={"run": run.id})
            await jobs.requeue(connection, job.id)
        elif run is not None and run.state in FINAL:
            await jobs.finish(connection, job.id, Status.FAILED)

    async def _reconcile(self) -> None:
        """Runs and jobs that tell different stories, as in a database put together from two backups: the run's row is the truth."""
        of = select(runs.c.id, runs.c.job_id, runs.c.queue).with_for_update(skip_locked=True)
        async with self._database.transaction() as connection:
            for run in await connection.execute(of.where(runs.c.state.in_(FINAL), jobs.open_job(runs.c.job_id))):
                logger.warning("job %s of run %s was left over", run.job_id, run.id)
                await jobs.finish(connection, run.job_id, Status.ABORTED)
            for run in await connection.execute(of.where(runs.c.state == RunState.QUEUED, ~jobs.open_job(runs.c.job_id))):
                logger.warning("run %s waited without a job; it has a new one", run.id)
                job = await jobs.dispatch(connection, run.id, run.queue)
                await connection.execute(update(runs).where(runs.c.id == run.id).values(job_id=job))
