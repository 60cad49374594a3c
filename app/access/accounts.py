"""All SQL about users and the sessions of their browsers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.passwords import Hashed
from app.access.tokens import Scope
from app.storage.access_tables import sessions, users
from app.storage.tables import events
from app.storage.view import View

FAILED = "login failed"


@dataclass(frozen=True)
class User:
    """`project` is None for one of every project."""

    id: int
    name: str
    scopes: tuple[Scope, ...]
    project: str | None
    password: Hashed
    created_at: datetime


def _user(row: Any) -> User:
    return User(row.id, row.name, tuple(row.scopes), row.project, Hashed(bytes(row.salt), bytes(row.hash)), row.created_at)


async def add(connection: AsyncConnection, name: str, scopes: tuple[Scope, ...], project: str | None, password: Hashed) -> bool:
    """False where the name is taken."""
    row = insert(users).values(name=name, scopes=list(scopes), project=project, salt=password.salt, hash=password.hash)
    return await connection.scalar(row.on_conflict_do_nothing().returning(users.c.id)) is not None


async def find(connection: AsyncConnection, name: str) -> User | None:
    row = (await connection.execute(select(users).where(users.c.name == name))).one_or_none()
    return None if row is None else _user(row)


async def listed(connection: AsyncConnection, view: View) -> list[User]:
    return [_user(row) for row in await connection.execute(select(users).where(view.of(users)).order_by(users.c.id))]


async def set_password(connection: AsyncConnection, user: int, password: Hashed) -> None:
    """Ends every session that the old one opened."""
    await connection.execute(update(users).where(users.c.id == user).values(salt=password.salt, hash=password.hash))
    await connection.execute(delete(sessions).where(sessions.c.user_id == user))


async def remove(connection: AsyncConnection, user: int) -> None:
    """With every session."""
    await connection.execute(delete(users).where(users.c.id == user))


async def open_session(connection: AsyncConnection, user: int, hash: bytes, hours: float) -> None:
    await connection.execute(insert(sessions).values(hash=hash, user_id=user, expires_at=func.now() + func.make_interval(0, 0, 0, 0, hours)))


async def of_session(connection: AsyncConnection, hash: bytes) -> User | None:
    """Whose session this is; None once it is over."""
    found = select(users).join(sessions, sessions.c.user_id == users.c.id).where(sessions.c.hash == hash, sessions.c.expires_at > func.now())
    row = (await connection.execute(found)).one_or_none()
    return None if row is None else _user(row)


async def close_session(connection: AsyncConnection, hash: bytes) -> None:
    await connection.execute(delete(sessions).where(sessions.c.hash == hash))


async def sweep(connection: AsyncConnection) -> None:
    await connection.execute(delete(sessions).where(sessions.c.expires_at < func.now()))


async def one_guess_at_a_time(connection: AsyncConnection, name: str) -> None:
    """Until the caller's commit, so that guesses sent together are counted one after the other."""
    await connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 1))"), {"name": name})


async def failures(connection: AsyncConnection, minutes: int, **what: str) -> int:
    """Failed logins of the last minutes, by what was noted with them."""
    recent = (events.c.run_id.is_(None), events.c.kind == FAILED, events.c.at > func.now() - func.make_interval(0, 0, 0, 0, 0, minutes))
    same = [events.c.body[name].astext == value for name, value in what.items()]
    return int(await connection.scalar(select(func.count()).where(*recent, *same)) or 0)
