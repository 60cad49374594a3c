"""All SQL about webhooks and their deliveries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from procrastinate.jobs import Status
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.hooks.schemas import DeliveryOut, TryOut, WebhookOut
from app.hooks.sender import Tried
from app.queue import jobs
from app.storage.hook_tables import deliveries, tries, webhooks
from app.storage.tables import runs
from app.storage.view import View


@dataclass(frozen=True)
class Due:
    """A delivery that has been fetched to be tried now. `body` is None until its first try."""

    delivery: int
    job: int
    tried: int
    url: str
    secret: str
    event: str
    run: int
    project: str
    subject: dict[str, Any] | None
    body: str | None


async def add(connection: AsyncConnection, project: str, url: str, events: Sequence[str], secret: str, actor: str) -> WebhookOut:
    row = {"project": project, "url": url, "events": list(events), "secret": secret, "created_by": actor}
    return _webhook((await connection.execute(insert(webhooks).values(row).returning(webhooks))).one())


async def live(connection: AsyncConnection, view: View) -> list[WebhookOut]:
    found = select(webhooks).where(view.of(webhooks), webhooks.c.removed_at.is_(None)).order_by(webhooks.c.id)
    return [_webhook(row) for row in await connection.execute(found)]


async def remove(connection: AsyncConnection, view: View, webhook: int) -> str | None:
    """The project that it was of; None where there is no such one. What still waits for it is given up when its turn comes."""
    mine = (webhooks.c.id == webhook, webhooks.c.removed_at.is_(None), view.of(webhooks))
    done = await connection.scalar(update(webhooks).where(*mine).values(removed_at=func.clock_timestamp()).returning(webhooks.c.project))
    return None if done is None else str(done)


async def exists(connection: AsyncConnection, view: View, webhook: int) -> bool:
    """Also one that was removed: its log stays."""
    return await connection.scalar(select(webhooks.c.id).where(webhooks.c.id == webhook, view.of(webhooks))) is not None


async def log(connection: AsyncConnection, webhook: int, limit: int) -> list[DeliveryOut]:
    """The latest deliveries of a webhook, newest first, each with all its tries."""
    query = select(deliveries).where(deliveries.c.webhook_id == webhook).order_by(deliveries.c.id.desc()).limit(limit)
    rows = (await connection.execute(query)).all()
    made: dict[int, list[TryOut]] = {row.id: [] for row in rows}
    found = select(tries).where(tries.c.delivery_id.in_(made)).order_by(tries.c.id)
    for row in await connection.execute(found):
        made[row.delivery_id].append(TryOut(at=row.at, status=row.status, error=row.error, seconds=row.seconds))
    return [
        DeliveryOut(
            id=row.id, webhook=row.webhook_id, run=row.run_id, event=row.event, state=row.state, created_at=row.created_at, next_at=row.next_at,
            ended_at=row.ended_at, tries=tuple(made[row.id]),
        )
        for row in rows
    ]  # fmt: skip


async def prune(connection: AsyncConnection, days: int, limit: int) -> int:
    """Deletes the oldest deliveries that ended longer ago, with their tries; how many. What still waits stays."""
    old = deliveries.c.ended_at < func.now() - func.make_interval(0, 0, 0, days)
    found = list(
        await connection.scalars(select(deliveries.c.id).where(old).order_by(deliveries.c.id).limit(limit).with_for_update(skip_locked=True))
    )
    await connection.execute(delete(tries).where(tries.c.delivery_id.in_(found)))
    await connection.execute(delete(deliveries).where(deliveries.c.id.in_(found)))
    return len(found)


async def lock_run(connection: AsyncConnection, run: int) -> None:
    await connection.execute(select(runs.c.id).where(runs.c.id == run).with_for_update())


async def take(connection: AsyncConnection, worker: int) -> Due | None:
    """The next delivery whose time has come, as one that this worker is at; one whose webhook was removed is given up instead."""
    while (job := await jobs.fetch(connection, [jobs.HOOKS], worker)) is not None:
        assert job.id is not None
        joined = deliveries.join(webhooks, webhooks.c.id == deliveries.c.webhook_id).join(runs, runs.c.id == deliveries.c.run_id)
        columns = (deliveries, webhooks.c.url, webhooks.c.secret, webhooks.c.removed_at, runs.c.project)
        row = (await connection.execute(select(*columns).select_from(joined).where(deliveries.c.job_id == job.id))).one_or_none()
        if row is not None and row.removed_at is None and row.state == "waiting":
            return Due(row.id, job.id, row.tries, row.url, row.secret, row.event, row.run_id, row.project, row.subject, row.body)
        await jobs.finish(connection, job.id, Status.ABORTED)
        if row is not None and row.state == "waiting":
            await _ended(connection, row.id, "failed")
    return None


async def keep_body(connection: AsyncConnection, delivery: int, body: str) -> None:
    """What is sent once is sent again word for word."""
    await connection.execute(update(deliveries).where(deliveries.c.id == delivery).values(body=body))


async def record(connection: AsyncConnection, due: Due, tried: Tried, again: timedelta | None) -> None:
    """One try more; unless it was taken it is tried `again`, or with None given up."""
    row = {"delivery_id": due.delivery, "status": tried.status, "error": tried.error, "seconds": tried.seconds}
    await connection.execute(insert(tries).values(row))
    await connection.execute(update(deliveries).where(deliveries.c.id == due.delivery).values(tries=due.tried + 1))
    if tried.delivered or again is None:
        await jobs.finish(connection, due.job, Status.SUCCEEDED if tried.delivered else Status.FAILED)
        await _ended(connection, due.delivery, "delivered" if tried.delivered else "failed")
        return
    await jobs.requeue(connection, due.job, again)
    await connection.execute(update(deliveries).where(deliveries.c.id == due.delivery).values(next_at=func.clock_timestamp() + again))


async def adopt(connection: AsyncConnection, seconds: float) -> None:
    """Deliveries that a worker was at which is gone; whether they arrived is not known, so they are tried again."""
    for job in await jobs.stalled(connection, seconds):
        if job.task_name == jobs.DELIVER and job.id is not None:
            await jobs.requeue(connection, job.id)


async def _ended(connection: AsyncConnection, delivery: int, state: str) -> None:
    values = {"state": state, "ended_at": func.clock_timestamp(), "next_at": None}
    await connection.execute(update(deliveries).where(deliveries.c.id == delivery).values(**values))


def _webhook(row: Any) -> WebhookOut:
    return WebhookOut(id=row.id, url=row.url, events=tuple(row.events), created_by=row.created_by, created_at=row.created_at)
