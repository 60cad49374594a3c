"""Results measured elsewhere: taken once, completed by whoever knows their language and tokenizer, and reported by themselves."""

import asyncio
import hashlib
import json
from datetime import datetime
from typing import Any

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.principal import Principal
from app.access.seen import Seen, Who, narrowed
from app.domain.outside.imported import Imported
from app.domain.outside.supplied import Supplied, contradictions
from app.domain.prompt import Fault
from app.errors import Conflict, InvalidInput, NotFound, TooLarge, TooMany
from app.imports import store
from app.imports.formats.base import NotImported
from app.imports.open import imported as opened
from app.imports.schemas import Between, ImportFilter, ImportLine, ImportOut, ImportPage
from app.reports.format import say
from app.reports.imported import ImportedReport, report
from app.storage.database import Database
from app.storage.journal import append, times
from app.storage.view import View

LARGEST = 2**63 - 1
# Of what is kept of one file, as JSON.
LARGEST_KEPT = 32 * 2**20
NOTHING_BETWEEN = Between()
# Reports at hand.
MOST_MADE = 500
IMPORTED = "import made"
COMPLETED = "import completed"


class NoSuchImport(NotFound):
    """There is no such import"""


class WrongFile(InvalidInput):
    """This file cannot be imported"""

    fault: Fault | None = None


class Alone(InvalidInput):
    """The text of before is missing"""


class Contradicted(InvalidInput):
    """The file itself says otherwise"""


class OtherWords(Conflict):
    """This file is here already"""


class Imports(Seen):
    def __init__(self, database: Database, *, uploads_per_token: int) -> None:
        self._database = database
        self._uploads_per_token = uploads_per_token
        self._made: dict[tuple[int, datetime | None], ImportOut] = {}

    async def take(
        self,
        content: bytes,
        supplied: Supplied,
        *,
        principal: Principal,
        before: bytes | None = None,
        between: Between = NOTHING_BETWEEN,
        format: str | None = None,
    ) -> tuple[ImportOut, bool]:
        """An import and whether it is new: the same bytes in a project are the same import, to which what is said now for the first time is added.

        Raises WrongFile, Alone, Contradicted, OtherWords, TooMany."""
        principal.need("submit")
        if before is None and between != NOTHING_BETWEEN:
            names = [name for name, value in between.model_dump().items() if value is not None]
            fields = [{"pointer": f"/{name}", "detail": "is of two texts of /metrics"} for name in names]
            raise Alone("requests and concurrency are said of two texts of /metrics; send the earlier one as before.", fields=fields)
        read, new, made = await asyncio.to_thread(_read, content, before, between, format, supplied)
        new |= {"project": principal.home, "imported_by": principal.name}
        async with self._database.transaction() as connection:
            number = await store.add(connection, new)
            if number is None:
                return await self._again(connection, new["digest"], supplied, principal), False
            await self._quota(connection, principal)
            told = {"import": number, "format": read.format, "digest": new["digest"], "refusing": list(made.refusing)}
            await append(connection, None, IMPORTED, principal.name, project=principal.home, **told)
            found = await store.find(connection, View(principal.home), number)
        assert found is not None
        return _out(found, supplied, made), True

    async def complete(self, number: int, said: Supplied, *, principal: Principal) -> ImportOut:
        """Adds what is said to what is known of an import, or takes back what is said to be null. Raises NoSuchImport, Contradicted."""
        principal.need("submit")
        async with self._database.transaction() as connection:
            row = await self._row(connection, number, lock=True)
            old = store.told(row)[1]
            return await self._change(connection, row, old.model_copy(update=said.model_dump(exclude_unset=True)), principal)

    async def get(self, number: int) -> ImportOut:
        """Raises NoSuchImport."""
        async with self._database.transaction() as connection:
            found = await store.changed(connection, self.view, number) if 0 < number <= LARGEST else None
            return await self._whole(connection, found or await self._row(connection, number))

    async def page(self, filter: ImportFilter) -> ImportPage:
        async with self._database.transaction() as connection:
            rows = await store.page(connection, self.view, filter.refused, filter.cursor, filter.limit + 1)
            total, refused = await store.counts(connection, self.view)
            items = [_line(await self._whole(connection, row)) for row in rows[: filter.limit]]
        return ImportPage(items=items, total=total, refused=refused, next_cursor=items[-1].id if len(rows) > filter.limit else None)

    async def _whole(self, connection: AsyncConnection, row: store.Found) -> ImportOut:
        """A file of many requests takes a while to report, and what it told does not change."""
        key = (row.id, row.changed_at)
        if key not in self._made:
            if len(self._made) >= MOST_MADE:
                self._made.clear()
            self._made[key] = await asyncio.to_thread(_shown, await self._row(connection, row.id))
        return self._made[key]

    async def refused(self) -> int:
        """How many imports have refused figures."""
        async with self._database.transaction() as connection:
            return (await store.counts(connection, self.view))[1]

    async def _quota(self, connection: AsyncConnection, principal: Principal) -> None:
        if await times(connection, IMPORTED, principal.name, principal.home, hours=24) >= self._uploads_per_token:
            said = f"{principal.name} has imported {self._uploads_per_token} files in 24 hours, and may not import more; try again tomorrow."
            raise TooMany(said, headers={"Retry-After": "3600"})

    async def _again(self, connection: AsyncConnection, digest: str, supplied: Supplied, principal: Principal) -> ImportOut:
        row = await store.of_digest(connection, View(principal.home), digest)
        assert row is not None
        old = store.told(row)[1]
        said = store.said(supplied)
        other = {name: value for name, value in store.said(old).items() if said.get(name, value) != value}
        if other:
            named = ", ".join(f"{name} {value}" for name, value in other.items())
            raise OtherWords(f"This file is import {row.id} already, with {named}; change it there.", number=row.id)
        return await self._change(connection, row, old.model_copy(update=supplied.model_dump(exclude_none=True)), principal)

    async def _change(self, connection: AsyncConnection, row: store.Found, supplied: Supplied, principal: Principal) -> ImportOut:
        read, old = store.told(row)
        made = await asyncio.to_thread(_report, read, supplied)
        if supplied != old:
            await store.supply(connection, row.id, supplied, made.refusing)
            before, after = store.said(old), store.said(supplied)
            changed = {name: [before.get(name), after.get(name)] for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
            told = {"import": row.id, "changed": changed}
            await append(connection, None, COMPLETED, principal.name, project=row.project, **told)
            row = await self._row(connection, row.id)
        return _out(row, supplied, made)

    async def _row(self, connection: AsyncConnection, number: int, *, lock: bool = False) -> store.Found:
        row = await store.find(connection, self.view, number, lock=lock) if 0 < number <= LARGEST else None
        if row is None:
            newest = await store.newest(connection, self.view)
            raise NoSuchImport(f"There is no import {number}. " + ("There are none yet." if newest is None else f"The newest is {newest}."))
        return row


def _read(
    content: bytes, before: bytes | None, between: Between, format: str | None, supplied: Supplied
) -> tuple[Imported, dict[str, Any], ImportedReport]:
    """What a file tells, its row, and its report."""
    try:
        read = opened(content, before=before, requests=between.requests, concurrency=between.concurrency, format=format)
    except NotImported as error:
        raise _wrong(error.fault) from error
    kept = read.model_dump(mode="json", exclude_defaults=True)
    size = json.dumps(kept)
    if len(size) > LARGEST_KEPT:
        raise TooLarge(f"What this file tells takes {len(size) // 2**20} MiB, and an import may take {LARGEST_KEPT // 2**20}; import it in parts.")
    if "\\u0000" in size:
        raise WrongFile("A name in this file holds the character NUL, which cannot be stored; take it out.")
    made = _report(read, supplied)
    row = {"digest": _digest(content, before, between), "format": read.format, "imported": kept, "supplied": store.said(supplied)}
    return read, row | {"refusing": list(made.refusing)}, made


def _digest(content: bytes, before: bytes | None, between: Between) -> str:
    """SHA-256 of a file; of two, over the digests of both and what was said of the requests in between: two texts tell another thing with it."""
    own = hashlib.sha256(content)
    if before is None:
        return own.hexdigest()
    said = b"" if between == NOTHING_BETWEEN else between.model_dump_json().encode()
    return hashlib.sha256(hashlib.sha256(before).digest() + own.digest() + said).hexdigest()


def _wrong(fault: Fault) -> WrongFile:
    detail = say(fault.sentence)
    at = {"line": str(fault.line or ""), "field": fault.field or "", "detail": detail}
    wrong = WrongFile(str(fault), fields=[at] if fault.line or fault.field else [])
    wrong.fault = fault
    return wrong


def _report(read: Imported, supplied: Supplied) -> ImportedReport:
    """Raises Contradicted."""
    other = contradictions(read.carried, supplied)
    if other:
        fields = [{"pointer": f"/{name}", "detail": f"the file says {value}"} for name, value in other.items()]
        named = ", ".join(f"{name} {value}" for name, value in other.items())
        raise Contradicted(f"The file itself says {named}; what it carries cannot be contradicted.", fields=fields)
    return report(read, supplied)


def _shown(row: store.Found) -> ImportOut:
    read, supplied = store.told(row)
    return _out(row, supplied, report(read, supplied))


def _out(row: store.Found, supplied: Supplied, made: ImportedReport) -> ImportOut:
    own = {name: getattr(row, name) for name in ("id", "digest", "imported_by", "created_at", "changed_at")}
    return ImportOut(**own, supplied=supplied, report=made)


def _line(found: ImportOut) -> ImportLine:
    made = found.report
    per_round = made.find("tokens_per_round")
    assert per_round is not None
    return ImportLine(
        id=found.id, format=made.format, tool=made.tool, engine=made.engine, target=made.known.get("target"), language=made.known.get("language"),
        tokenizer=made.known.get("tokenizer"), requests=made.counts.requests, refusing=made.refusing, created_at=found.created_at,
        imported_by=found.imported_by, acceptance=made.headline, tokens_per_round=per_round,
    )  # fmt: skip


def imports_service(request: Request, who: Who) -> Imports:
    return narrowed(request, Imports, who)
