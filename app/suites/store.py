"""All SQL about suites that were uploaded."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.prompt import Prompt
from app.domain.status import RunState
from app.domain.suite import Suite
from app.storage.suite_tables import prompts, stored_suites
from app.storage.tables import runs
from app.storage.view import View

Found = Row[Any]


async def lock(connection: AsyncConnection, project: str, name: str) -> None:
    """Uploads of one id go one after the other until the caller's commit."""
    await connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 1))"), {"key": f"{project}\x1f{name}"})


async def offered_digests(connection: AsyncConnection, name: str) -> set[str]:
    """Under which digests runners have ever offered a suite of this id."""
    query = text("SELECT suite ->> 'digest' FROM offers, jsonb_array_elements(offer -> 'suites') AS suite WHERE suite ->> 'id' = :name")
    return set(await connection.scalars(query, {"name": name}))


async def find(connection: AsyncConnection, view: View, name: str) -> Found | None:
    query = select(stored_suites).where(view.of(stored_suites), stored_suites.c.name == name).order_by(stored_suites.c.id).limit(1)
    return (await connection.execute(query)).one_or_none()


async def listed(connection: AsyncConnection, view: View) -> Sequence[Found]:
    query = select(stored_suites).where(view.of(stored_suites)).order_by(stored_suites.c.name, stored_suites.c.id)
    return (await connection.execute(query)).all()


async def add(connection: AsyncConnection, project: str, suite: Suite, *, private: bool, uploaded_by: str) -> Found:
    row = {
        "project": project, "name": suite.id, "version": suite.version, "digest": suite.digest, "private": private,
        "languages": list(suite.languages), "profiles": list(suite.profiles), "prompts": suite.offered().prompts, "parallel": suite.parallel,
        "counts": suite.counts(), "uploaded_by": uploaded_by,
    }  # fmt: skip
    made: Found = (await connection.execute(insert(stored_suites).values(row).returning(stored_suites))).one()
    rows = [{"suite_id": made.id, "place": place, **_columns(prompt)} for place, prompt in enumerate(suite.prompts)]
    await connection.execute(insert(prompts), rows)
    return made


def _columns(prompt: Prompt) -> dict[str, Any]:
    fields = prompt.model_dump()
    return {"name": fields.pop("id"), **fields}


async def texts(connection: AsyncConnection, suite: int, after: int = -1, limit: int | None = None) -> list[Prompt]:
    """The prompts behind a place, in the order of their ids."""
    query = select(prompts).where(prompts.c.suite_id == suite, prompts.c.place > after).order_by(prompts.c.place).limit(limit)
    return [
        Prompt(id=row.name, parallel=row.parallel, language=row.language, profile=row.profile, answer=row.answer, text=row.text)
        for row in await connection.execute(query)
    ]


async def apart(connection: AsyncConnection, suites: Sequence[int]) -> dict[int, list[str]]:
    """Of each suite the profiles that a run takes only where it names them: `Suite.apart`, from the table."""
    other = func.bool_and(prompts.c.answer == "other").label("other")
    query = select(prompts.c.suite_id, prompts.c.profile, other).where(prompts.c.suite_id.in_(suites)).group_by(prompts.c.suite_id, prompts.c.profile)
    found: dict[int, list[tuple[str, bool]]] = {suite: [] for suite in suites}
    for row in await connection.execute(query.order_by(prompts.c.profile)):
        found[row.suite_id].append((row.profile, row.other))
    return {suite: [] if all(other for _, other in kinds) else [name for name, other in kinds if other] for suite, kinds in found.items()}


def _of_runs() -> Any:
    """Runs with the stored suite that they ask for."""
    return runs.join(stored_suites, (stored_suites.c.project == runs.c.project) & (stored_suites.c.name == runs.c.suite))


async def waited_for(connection: AsyncConnection, view: View) -> dict[str, Found]:
    """By queue: the stored suite that its waiting runs ask for, which is one, since a suite is among the needs that make a queue."""
    query = select(runs.c.queue, stored_suites).select_from(_of_runs()).where(view.of(runs), runs.c.state == RunState.QUEUED)
    return {row.queue: row for row in await connection.execute(query)}


async def of_run(connection: AsyncConnection, run: int) -> Found | None:
    return (await connection.execute(select(stored_suites).select_from(_of_runs()).where(runs.c.id == run))).one_or_none()


async def is_private(connection: AsyncConnection, run: int) -> bool:
    query = select(func.bool_or(stored_suites.c.private)).select_from(_of_runs()).where(runs.c.id == run)
    return bool(await connection.scalar(query))
