"""All SQL about tokens, projects and enrolments. (Users and sessions: accounts.py; the log: deeds.py.)"""

from typing import Any

from sqlalchemy import Double, cast, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.tokens import Enrolment, Scope, Token
from app.storage.access_tables import enrolments as enrolments_table
from app.storage.access_tables import projects as projects_table
from app.storage.tables import tokens
from app.storage.view import View


def _token(row: Any) -> Token:
    return Token(**dict(row._mapping) | {"scopes": tuple(row.scopes), "hash": bytes(row.hash)})


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


async def revoke(connection: AsyncConnection, view: View, **which: Any) -> list[Token]:
    """The tokens of a name or id that were alive until now."""
    wanted = [tokens.c[column] == value for column, value in which.items()]
    done = update(tokens).where(*wanted, view.of(tokens), tokens.c.revoked_at.is_(None)).values(revoked_at=func.now()).returning(tokens)
    return [_token(row) for row in await connection.execute(done)]


async def listed(connection: AsyncConnection, view: View) -> list[Token]:
    return [_token(row) for row in await connection.execute(select(tokens).where(view.of(tokens)).order_by(tokens.c.id))]


async def add_project(connection: AsyncConnection, name: str) -> bool:
    """Whether it is new."""
    made = insert(projects_table).values(name=name).on_conflict_do_nothing().returning(projects_table.c.name)
    return await connection.scalar(made) is not None


async def projects(connection: AsyncConnection, view: View) -> list[str]:
    found = select(projects_table.c.name).order_by(projects_table.c.created_at)
    return [name for name in await connection.scalars(found) if view.project in {None, name}]


async def add_enrolment(connection: AsyncConnection, name: str, hash: bytes, project: str | None, minutes: float, by: str) -> None:
    until = func.now() + func.make_interval(0, 0, 0, 0, 0, 0, cast(minutes * 60, Double))
    await connection.execute(insert(enrolments_table).values(name=name, hash=hash, project=project, created_by=by, expires_at=until))


def _usable() -> tuple[Any, Any]:
    return enrolments_table.c.used_at.is_(None), enrolments_table.c.expires_at > func.now()


async def use_enrolment(connection: AsyncConnection, hash: bytes, token_hash: bytes) -> Enrolment | None:
    """Turns an enrolment into a runner's token; None when it cannot be used, or not any more. Two at once are one after the other."""
    table = enrolments_table
    row = (await connection.execute(select(table).where(table.c.hash == hash, *_usable()).with_for_update())).one_or_none()
    if row is None:
        return None
    token = await add(connection, row.name, ("runner",), token_hash, row.project)
    await connection.execute(update(table).where(table.c.id == row.id).values(used_at=func.now(), token_id=token))
    return _enrolment(row)


async def enrolments(connection: AsyncConnection, view: View) -> list[Enrolment]:
    """Those that can still be used."""
    found = select(enrolments_table).where(view.of(enrolments_table), *_usable()).order_by(enrolments_table.c.id)
    return [_enrolment(row) for row in await connection.execute(found)]


def _enrolment(row: Any) -> Enrolment:
    return Enrolment(row.name, row.project, row.created_by, row.created_at, row.expires_at)
