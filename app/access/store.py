"""All SQL about tokens."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import CursorResult, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.tokens import Scope
from app.storage.tables import tokens


@dataclass(frozen=True)
class Token:
    id: int
    name: str
    scopes: tuple[Scope, ...]
    hash: bytes


async def find(connection: AsyncConnection, hash: bytes) -> Token | None:
    """The live token with this hash; its use is noted, once a minute at most."""
    columns = (tokens.c.id, tokens.c.name, tokens.c.scopes, tokens.c.hash)
    row = (await connection.execute(select(*columns).where(tokens.c.hash == hash, tokens.c.revoked_at.is_(None)))).one_or_none()
    if row is not None:
        fresh = tokens.c.last_used_at > func.now() - func.make_interval(0, 0, 0, 0, 0, 1)
        await connection.execute(update(tokens).where(tokens.c.id == row.id, func.coalesce(fresh, False).is_(False)).values(last_used_at=func.now()))
    return None if row is None else Token(row.id, row.name, tuple(row.scopes), bytes(row.hash))


async def add(connection: AsyncConnection, name: str, scopes: tuple[Scope, ...], hash: bytes) -> int:
    made = await connection.execute(insert(tokens).values(name=name, scopes=list(scopes), hash=hash).returning(tokens.c.id))
    return int(made.scalar_one())


async def revoke(connection: AsyncConnection, name: str) -> int:
    """How many live tokens of this name there were."""
    done: CursorResult[tuple[()]] = await connection.execute(
        update(tokens).where(tokens.c.name == name, tokens.c.revoked_at.is_(None)).values(revoked_at=func.now())
    )
    return done.rowcount


async def listed(connection: AsyncConnection) -> list[tuple[str, list[Scope], datetime, datetime | None, datetime | None]]:
    columns = (tokens.c.name, tokens.c.scopes, tokens.c.created_at, tokens.c.last_used_at, tokens.c.revoked_at)
    return [tuple(row) for row in await connection.execute(select(*columns).order_by(tokens.c.id))]
