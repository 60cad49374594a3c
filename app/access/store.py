"""All SQL about tokens and projects."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import CursorResult, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.tokens import Scope
from app.storage.access_tables import projects as projects_table
from app.storage.tables import tokens


@dataclass(frozen=True)
class Token:
    """`project` is None for one that is of every project."""

    id: int
    name: str
    scopes: tuple[Scope, ...]
    project: str | None
    hash: bytes
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


def _token(row: object) -> Token:
    found = dict(row._mapping)  # type: ignore[attr-defined]
    return Token(**found | {"scopes": tuple(found["scopes"]), "hash": bytes(found["hash"])})


async def find(connection: AsyncConnection, hash: bytes) -> Token | None:
    """The live token with this hash; its use is noted, once a minute at most."""
    row = (await connection.execute(select(tokens).where(tokens.c.hash == hash, tokens.c.revoked_at.is_(None)))).one_or_none()
    if row is None:
        return None
    fresh = tokens.c.last_used_at > func.now() - func.make_interval(0, 0, 0, 0, 0, 1)
    await connection.execute(update(tokens).where(tokens.c.id == row.id, func.coalesce(fresh, False).is_(False)).values(last_used_at=func.now()))
    return _token(row)


async def add(connection: AsyncConnection, name: str, scopes: tuple[Scope, ...], hash: bytes, project: str | None) -> int:
    made = await connection.execute(insert(tokens).values(name=name, scopes=list(scopes), hash=hash, project=project).returning(tokens.c.id))
    return int(made.scalar_one())


async def revoke(connection: AsyncConnection, name: str) -> int:
    """How many live tokens of this name there were."""
    done: CursorResult[tuple[()]] = await connection.execute(
        update(tokens).where(tokens.c.name == name, tokens.c.revoked_at.is_(None)).values(revoked_at=func.now())
    )
    return done.rowcount


async def listed(connection: AsyncConnection) -> list[Token]:
    return [_token(row) for row in await connection.execute(select(tokens).order_by(tokens.c.id))]


async def add_project(connection: AsyncConnection, name: str) -> bool:
    """Whether it is new."""
    done: CursorResult[tuple[()]] = await connection.execute(insert(projects_table).values(name=name).on_conflict_do_nothing())
    return bool(done.rowcount)


async def projects(connection: AsyncConnection) -> list[str]:
    return list(await connection.scalars(select(projects_table.c.name).order_by(projects_table.c.created_at)))
