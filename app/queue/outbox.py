"""What happens is written down for whoever wants to be told, in the very transaction in which it happens; hooks deliver it afterwards."""

from typing import Any

from sqlalchemy import any_, insert, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.queue import jobs
from app.storage.hook_tables import deliveries, webhooks
from app.storage.tables import runs

RUN_FINISHED = "run.finished"


async def announce(connection: AsyncConnection, run: int, event: str, subject: dict[str, Any] | None = None) -> int:
    """One delivery for each webhook of the run's project that asks for this event; how many. `subject` is what happened, None the run itself."""
    project = select(runs.c.project).where(runs.c.id == run).scalar_subquery()
    wanted = or_(*(literal(name) == any_(webhooks.c.events) for name in (event, f"{event.partition('.')[0]}.*")))
    asking = select(webhooks.c.id).where(webhooks.c.project == project, webhooks.c.removed_at.is_(None), wanted)
    found = list(await connection.scalars(asking.order_by(webhooks.c.id)))
    for webhook in found:
        row = {"webhook_id": webhook, "run_id": run, "event": event, "subject": subject, "state": "waiting"}
        delivery = (await connection.execute(insert(deliveries).values(row).returning(deliveries.c.id))).scalar_one()
        job = await jobs.defer(connection, jobs.HOOKS, jobs.DELIVER, f"delivery-{delivery}", {"delivery": delivery})
        await connection.execute(update(deliveries).where(deliveries.c.id == delivery).values(job_id=job))
    return len(found)
