"""All SQL about Idempotency-Keys."""

from typing import Any

from sqlalchemy import func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.runs.keys import Kept
from app.storage.probe_tables import probes
from app.storage.tables import idempotency_keys


async def lock(connection: AsyncConnection, scope: str, key: str) -> None:
    """Requests with the same key go one after the other until the caller's commit."""
    await connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": f"{scope}\x1f{key}"})


async def find(connection: AsyncConnection, scope: str, key: str) -> Kept | None:
    """What this key made, and what was asked."""
    table = idempotency_keys
    columns = (table.c.run_id, table.c.campaign_id, table.c.body)
    row = (await connection.execute(select(*columns).where(table.c.scope == scope, table.c.key == key))).one_or_none()
    if row is None:
        return await _probe(connection, scope, key)
    return Kept("campaign", row.campaign_id, row.body) if row.run_id is None else Kept("run", row.run_id, row.body)


async def _probe(connection: AsyncConnection, scope: str, key: str) -> Kept | None:
    """Probes keep their key themselves, for as long as that of a run is kept."""
    own = (probes.c.key_scope == scope, probes.c.key == key, probes.c.created_at > func.now() - text("interval '7 days'"))
    newest = select(probes.c.id, probes.c.spec).where(*own).order_by(probes.c.id.desc()).limit(1)
    row = (await connection.execute(newest)).one_or_none()
    return None if row is None else Kept("probe", row.id, row.spec)


async def keep(
    connection: AsyncConnection, scope: str, key: str, body: dict[str, Any], *, run: int | None = None, campaign: int | None = None
) -> None:
    """One of `run` and `campaign` is what the key made."""
    await connection.execute(insert(idempotency_keys).values(scope=scope, key=key, run_id=run, campaign_id=campaign, body=body))
