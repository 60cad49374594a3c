"""procrastinate as the queue's engine, inside the transaction that we are already in.

A job and the rows that it stands for are written, fetched, retried and finished by one commit: a crash leaves both or neither.
"""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

from procrastinate import PsycopgConnector
from procrastinate.exceptions import NoResult
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from sqlalchemy import ColumnElement, String, cast, column, exists, table
from sqlalchemy.ext.asyncio import AsyncConnection

TASK, PROBE = "bezmen.measure", "bezmen.probe"
# Deliveries have a queue of their own, which no runner asks for.
HOOKS, DELIVER = "webhooks", "bezmen.deliver"
_JOBS = table("procrastinate_jobs", column("id"), column("status"))


class _ThisConnection:
    """A pool for procrastinate that holds exactly the connection of the running transaction."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def connection(self) -> nullcontext[Any]:
        return nullcontext(self._connection)


async def manager(connection: AsyncConnection) -> JobManager:
    raw = (await connection.get_raw_connection()).driver_connection
    connector = PsycopgConnector()
    pool: Any = _ThisConnection(raw)
    await connector.open_async(pool)
    return JobManager(connector)


async def dispatch(connection: AsyncConnection, run: int, queue: str) -> int:
    """Puts a run into the queue; the job's id. Seen by nobody before the caller's commit."""
    return await defer(connection, queue, TASK, f"run-{run}", {"run": run})


async def defer(connection: AsyncConnection, queue: str, task: str, lock: str, subject: dict[str, int]) -> int:
    """A job; no two with the same lock wait at once."""
    job = Job(queue=queue, lock=None, queueing_lock=lock, task_name=task, task_kwargs=dict(subject))
    made = await (await manager(connection)).defer_job_async(job)
    assert made.id is not None
    return made.id


async def fetch(connection: AsyncConnection, queues: list[str], worker: int) -> Job | None:
    return await (await manager(connection)).fetch_job(queues, worker) if queues else None


async def requeue(connection: AsyncConnection, job: int, after: timedelta = timedelta()) -> None:
    """Back to `todo`, in its old place of the line, to be fetched no sooner than `after`."""
    if await _status(connection, job) is Status.DOING:
        await (await manager(connection)).retry_job_by_id_async(job, retry_at=datetime.now(UTC) + after)


async def finish(connection: AsyncConnection, job: int, status: Status) -> None:
    """Closes a job. One that somebody has closed already stays as it is: the run's own row decides, and a result is never lost over its job."""
    if await _status(connection, job) in {Status.TODO, Status.DOING}:
        await (await manager(connection)).finish_job_by_id_async(job, status, delete_job=False)


async def _status(connection: AsyncConnection, job: int) -> Status | None:
    try:
        return await (await manager(connection)).get_job_status_async(job)
    except NoResult:
        return None


async def withdraw(connection: AsyncConnection, job: int) -> None:
    """Takes a job that nobody has fetched out of the queue."""
    await (await manager(connection)).cancel_job_by_id_async(job)


async def stalled(connection: AsyncConnection, seconds: float) -> list[Job]:
    """Jobs being done by a worker that has been silent for so long, or by none."""
    return list(await (await manager(connection)).get_stalled_jobs(seconds_since_heartbeat=seconds))


def open_job(job: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether the job of this number waits or is being done."""
    return exists().where(_JOBS.c.id == job, cast(_JOBS.c.status, String).in_((Status.TODO.value, Status.DOING.value)))


async def register_worker(connection: AsyncConnection) -> int:
    return await (await manager(connection)).register_worker()


async def beat(connection: AsyncConnection, worker: int) -> None:
    await (await manager(connection)).update_heartbeat(worker)
