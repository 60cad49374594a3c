"""All SQL about claims. Whatever comes with the service belongs to no project and is seen by all."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.claims.published import Entry, dated
from app.claims.schemas import NAMED, REFUSING, UNITS, Claim, System
from app.storage.claim_tables import claims, systems
from app.storage.view import View

OURS = "bezmen"


def _seen(view: View, table: Table) -> ColumnElement[bool]:
    return or_(table.c.project.is_(None), view.of(table))


async def enter_published(connection: AsyncConnection, board: Sequence[Entry]) -> None:
    """Brings what comes with the service up to its present words; what somebody withdrew stays withdrawn."""
    for entry in board:
        row: dict[str, Any] = {"name": entry.name, "kind": entry.kind, "about": entry.about, "drafter": entry.drafter}
        made = insert(systems).values(row | {"entered_by": OURS})
        made = made.on_conflict_do_update(index_elements=["project", "name"], set_=row)
        system = (await connection.execute(made.returning(systems.c.id))).scalar_one()
        for one in entry.claims:
            fields = {"system_id": system, "quantity": one.quantity, "figure": one.figure, "value": one.value, "upto": one.upto, "source": one.source}
            fields |= {"published": dated(one), **one.more}
            put = insert(claims).values(fields | {"key": one.key, "entered_by": OURS})
            await connection.execute(put.on_conflict_do_update(index_elements=["key"], set_=fields))


async def board(connection: AsyncConnection, view: View) -> list[System]:
    """Every system with its claims, in the order of entry."""
    found = (await connection.execute(select(systems).where(_seen(view, systems)).order_by(systems.c.id))).all()
    query = select(claims, systems.c.name.label("system")).join(systems).where(_seen(view, claims), claims.c.withdrawn_at.is_(None))
    rows = (await connection.execute(query.order_by(claims.c.id))).all()
    own: dict[int, list[Claim]] = {}
    for row in rows:
        own.setdefault(row.system_id, []).append(_claim(row))
    return [System(id=row.id, name=row.name, kind=row.kind, about=row.about, drafter=row.drafter, claims=tuple(own.get(row.id, ()))) for row in found]


async def system_of(connection: AsyncConnection, view: View, name: str) -> int | None:
    """The system of this name, whatever the case of its letters; one that comes with the service before one of a project."""
    query = select(systems.c.id).where(func.lower(systems.c.name) == name.lower(), _seen(view, systems))
    found = await connection.scalar(query.order_by(systems.c.project.nulls_first()).limit(1))
    return None if found is None else int(found)


async def add_system(connection: AsyncConnection, project: str, row: dict[str, Any]) -> int:
    made = insert(systems).values(row | {"project": project}).returning(systems.c.id)
    return int((await connection.execute(made)).scalar_one())


async def add(connection: AsyncConnection, project: str, system: int, row: dict[str, Any]) -> int:
    made = insert(claims).values(row | {"project": project, "system_id": system}).returning(claims.c.id)
    return int((await connection.execute(made)).scalar_one())


async def find(connection: AsyncConnection, view: View, claim: int) -> Claim | None:
    query = select(claims, systems.c.name.label("system")).join(systems).where(claims.c.id == claim, _seen(view, claims))
    row = (await connection.execute(query.where(claims.c.withdrawn_at.is_(None)))).one_or_none()
    return None if row is None else _claim(row)


async def withdraw(connection: AsyncConnection, view: View, claim: int) -> None:
    mine = (claims.c.id == claim, claims.c.withdrawn_at.is_(None), view.of(claims))
    await connection.execute(update(claims).where(*mine).values(withdrawn_at=func.clock_timestamp()))


def _claim(row: Any) -> Claim:
    lacks = tuple(name for name in NAMED if getattr(row, name) is None)
    shared = {name: getattr(row, name) for name in Claim.model_fields if name not in {"unit", "lacks", "refused"}}
    return Claim(**shared, unit=UNITS[row.quantity], lacks=lacks, refused=any(name in REFUSING for name in lacks))
