"""All SQL about campaigns themselves. (Their runs: store.py.)"""

from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncConnection

from app.storage.tables import campaigns, runs
from app.storage.view import View

Found = Any


async def add(connection: AsyncConnection, project: str, title: str, submitted_by: str) -> int:
    row = insert(campaigns).values(project=project, title=title, submitted_by=submitted_by).returning(campaigns.c.id)
    return int((await connection.execute(row)).scalar_one())


async def find(connection: AsyncConnection, view: View, campaign: int) -> Found | None:
    return (await connection.execute(select(campaigns).where(campaigns.c.id == campaign, view.of(campaigns)))).one_or_none()


async def newest(connection: AsyncConnection, view: View) -> int | None:
    found = await connection.scalar(select(func.max(campaigns.c.id)).where(view.of(campaigns)))
    return None if found is None else int(found)


async def page(connection: AsyncConnection, view: View, before: int | None, limit: int) -> list[Found]:
    """Newest first, one more than `limit` where there is one."""
    older = [] if before is None else [campaigns.c.id < before]
    return list(await connection.execute(select(campaigns).where(view.of(campaigns), *older).order_by(campaigns.c.id.desc()).limit(limit + 1)))


async def counts(connection: AsyncConnection, of: list[int]) -> dict[int, dict[str, int]]:
    """Runs by state of each campaign; of a measurement that was resumed its newest run alone."""
    newest = (
        select(runs.c.campaign_id, runs.c.state)
        .ext(distinct_on(runs.c.campaign_id, runs.c.spec_digest))
        .where(runs.c.campaign_id.in_(of))
        .order_by(runs.c.campaign_id, runs.c.spec_digest, runs.c.id.desc())
        .subquery()
    )
    found: dict[int, dict[str, int]] = {campaign: {} for campaign in of}
    for row in await connection.execute(select(newest.c.campaign_id, newest.c.state, func.count()).group_by(newest.c.campaign_id, newest.c.state)):
        found[row[0]][row[1]] = row[2]
    return found
