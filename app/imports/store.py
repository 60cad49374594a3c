"""All SQL about imports."""

from typing import Any

from sqlalchemy import Row, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.outside.supplied import Said
from app.storage.import_tables import imports
from app.storage.view import View

Found = Row[Any]


async def add(connection: AsyncConnection, row: dict[str, Any]) -> int | None:
    """The number of a new import; None where this file is in the project already."""
    made = insert(imports).values(row).on_conflict_do_nothing(index_elements=["project", "digest"]).returning(imports.c.id)
    found = await connection.scalar(made)
    return None if found is None else int(found)


async def of_digest(connection: AsyncConnection, view: View, digest: str) -> Found | None:
    """The import of these bytes, locked."""
    query = select(imports).where(view.of(imports), imports.c.digest == digest).order_by(imports.c.id).limit(1).with_for_update()
    return (await connection.execute(query)).one_or_none()


async def find(connection: AsyncConnection, view: View, number: int, *, lock: bool = False) -> Found | None:
    query = select(imports).where(view.of(imports), imports.c.id == number)
    return (await connection.execute(query.with_for_update() if lock else query)).one_or_none()


async def changed(connection: AsyncConnection, view: View, number: int) -> Found | None:
    """Number and time of the last change, without what the file told, which may be much."""
    query = select(imports.c.id, imports.c.changed_at).where(view.of(imports), imports.c.id == number)
    found: list[Found] = list(await connection.execute(query))
    return found[0] if found else None


async def newest(connection: AsyncConnection, view: View) -> int | None:
    found = await connection.scalar(select(func.max(imports.c.id)).where(view.of(imports)))
    return None if found is None else int(found)


async def page(connection: AsyncConnection, view: View, refused: bool | None, before: int | None, limit: int) -> list[Found]:
    """Newest first; what their files told, which may be much, is left out."""
    asked = [] if refused is None else [(func.cardinality(imports.c.refusing) > 0) == refused]
    older = [] if before is None else [imports.c.id < before]
    query = select(imports.c.id, imports.c.changed_at).where(view.of(imports), *asked, *older).order_by(imports.c.id.desc()).limit(limit)
    return list(await connection.execute(query))


async def counts(connection: AsyncConnection, view: View) -> tuple[int, int]:
    """All imports, and those whose figures are refused."""
    refused = func.count().filter(func.cardinality(imports.c.refusing) > 0)
    row = (await connection.execute(select(func.count(), refused).where(view.of(imports)))).one()
    return row[0], row[1]


async def supply(connection: AsyncConnection, number: int, supplied: Said, refusing: tuple[str, ...]) -> None:
    row = {"supplied": said(supplied), "refusing": list(refusing), "changed_at": func.clock_timestamp()}
    await connection.execute(update(imports).where(imports.c.id == number).values(row))


def said(supplied: Said) -> dict[str, Any]:
    return supplied.model_dump(mode="json", exclude_none=True)
