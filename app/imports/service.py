"""Results measured elsewhere: taken once, completed by whoever knows their language and tokenizer, and reported by themselves."""

import asyncio
import json
from datetime import datetime
from typing import Any

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.principal import Principal
from app.access.seen import Seen, Who, narrowed
from app.domain.outside.imported import Imported
from app.domain.outside.supplied import Between, Said, contradictions
from app.domain.prompt import Fault
from app.errors import Conflict, InvalidInput, NotFound, TooLarge, TooMany
from app.imports import kept, store
from app.imports.formats.base import NotImported
from app.imports.open import imported as opened
from app.imports.schemas import ImportFilter, ImportLine, ImportOut, ImportPage
from app.reports.format import say
from app.reports.imported import ImportedReport, report
from app.storage.database import Database
from app.storage.journal import append, times
from app.storage.view import View

LARGEST = 2**63 - 1
# Of what is kept of one file, as JSON.
LARGEST_KEPT = 32 * 2**20
BETWEEN = tuple(Between.model_fields)
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


class SaidTwice(Contradicted):
    """The load is said twice"""


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
        said: Said,
        *,
        principal: Principal,
        before: bytes | None = None,
        format: str | None = None,
    ) -> tuple[ImportOut, bool]:
        """An import and whether it is new: the same bytes in a project are the same import, to which what is said now for the first time is added.
        Two texts of /metrics are the same import whatever is said of the requests in between.

        Raises WrongFile, Alone, Contradicted, OtherWords, TooMany."""
        principal.need("submit")
        fields = _of_between(said)
        if before is None and fields:
            raise Alone("requests and concurrency are said of two texts of /metrics; send the earlier one as before.", fields=fields)
        read, new, made = await asyncio.to_thread(_read, content, before, format, said)
        new |= {"project": principal.home, "imported_by": principal.name}
        home = View(principal.home)
        async with self._database.transaction() as connection:
            earlier = None if before is None else await store.of_digest(connection, home, kept.digest_of_before(content, before, said))
            number = await store.add(connection, new) if earlier is None else None
            if number is None:
                row = earlier or await store.of_digest(connection, home, new["digest"])
                assert row is not None
                return await self._again(connection, row, said, principal), False
            await self._quota(connection, principal)
            told = {"import": number, "format": read.format, "digest": new["digest"], "refusing": list(made.refusing)}
            await append(connection, None, IMPORTED, principal.name, project=principal.home, **told)
            found = await store.find(connection, home, number)
        assert found is not None
        return _out(found, read, said, made), True

    async def complete(self, number: int, said: Said, *, principal: Principal) -> ImportOut:
        """Adds what is said to what is known of an import, or takes back what is said to be null. With another word of the requests between two texts
        of /metrics the counts are made anew. Raises NoSuchImport, Contradicted, WrongFile, Alone."""
        principal.need("submit")
        async with self._database.transaction() as connection:
            row = await self._row(connection, number, lock=True)
            read, old = kept.told(row)
            if not read.moved:
                _refuse_between(row, said)
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

    async def _again(self, connection: AsyncConnection, row: store.Found, said: Said, principal: Principal) -> ImportOut:
        read, old = kept.told(row)
        # Of texts whose differences were not kept the digest says that it is the same word.
        new = said.model_dump(mode="json", exclude_none=True, exclude=set() if read.moved else {*BETWEEN})
        other = {name: value for name, value in store.said(old).items() if new.get(name, value) != value}
        if other:
            named = ", ".join(f"{name} {value}" for name, value in other.items())
            said_so = f"This file is import {row.id} already, with {named}; change it there: PATCH /api/v1/imports/{row.id}."
            raise OtherWords(said_so, number=row.id)
        return await self._change(connection, row, old.model_copy(update=new), principal)

    async def _change(self, connection: AsyncConnection, row: store.Found, supplied: Said, principal: Principal) -> ImportOut:
        old = kept.told(row)[1]
        try:
            read = kept.imported(row, supplied)
        except NotImported as error:
            raise _wrong(error.fault) from error
        made = await asyncio.to_thread(_report, read, supplied)
        if supplied != old:
            await store.supply(connection, row.id, supplied, made.refusing)
            before, after = store.said(old), store.said(supplied)
            changed = {name: [before.get(name), after.get(name)] for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
            told = {"import": row.id, "changed": changed}
            await append(connection, None, COMPLETED, principal.name, project=row.project, **told)
            row = await self._row(connection, row.id)
        return _out(row, read, supplied, made)

    async def _row(self, connection: AsyncConnection, number: int, *, lock: bool = False) -> store.Found:
        row = await store.find(connection, self.view, number, lock=lock) if 0 < number <= LARGEST else None
        if row is None:
            newest = await store.newest(connection, self.view)
            raise NoSuchImport(f"There is no import {number}. " + ("There are none yet." if newest is None else f"The newest is {newest}."))
        return row


def _of_between(said: Said) -> list[dict[str, str]]:
    """What is said although it can be of two texts of /metrics alone, as an error's fields."""
    return [{"pointer": f"/{name}", "detail": "is of two texts of /metrics"} for name in BETWEEN if getattr(said, name) is not None]


def _refuse_between(row: store.Found, said: Said) -> None:
    """Raises Alone where something is said of the requests between two texts that were not kept, or that never were."""
    fields = _of_between(said)
    if not fields:
        return
    if kept.of_metrics(row):
        raise Alone(
            f"What import {row.id} was counted from was not kept; send both texts of /metrics again, with the right requests and concurrency.",
            fields=fields,
        )
    raise Alone(f"requests and concurrency are said of two texts of /metrics; import {row.id} is a file of {row.format}.", fields=fields)


def _read(content: bytes, before: bytes | None, format: str | None, said: Said) -> tuple[Imported, dict[str, Any], ImportedReport]:
    """What a file tells, its row, and its report."""
    try:
        read = opened(content, before=before, requests=said.requests, concurrency=said.concurrency, format=format)
    except NotImported as error:
        raise _wrong(error.fault) from error
    whole = read.model_dump(mode="json", exclude_defaults=True)
    size = json.dumps(whole)
    if len(size) > LARGEST_KEPT:
        raise TooLarge(f"What this file tells takes {len(size) // 2**20} MiB, and an import may take {LARGEST_KEPT // 2**20}; import it in parts.")
    if "\\u0000" in size:
        raise WrongFile("A name in this file holds the character NUL, which cannot be stored; take it out.")
    made = _report(read, said)
    row = {"digest": kept.digest(content, before), "format": read.format, "imported": whole, "supplied": store.said(said)}
    return read, row | {"refusing": list(made.refusing)}, made


def _wrong(fault: Fault) -> WrongFile:
    detail = say(fault.sentence)
    at = {"line": str(fault.line or ""), "field": fault.field or "", "detail": detail}
    wrong = WrongFile(str(fault), fields=[at] if fault.line or fault.field else [])
    wrong.fault = fault
    return wrong


def _report(read: Imported, supplied: Said) -> ImportedReport:
    """Raises Contradicted."""
    other = contradictions(read.carried, supplied)
    if "load" in other and read.carried.load_said:
        fields = [{"pointer": "/load", "detail": f"concurrency says {other['load']}"}]
        said = f"{other['load']} and load {supplied.load} are both said of the requests; leave load out, or say another concurrency."
        raise SaidTwice(said, fields=fields)
    if other:
        fields = [{"pointer": f"/{name}", "detail": f"the file says {value}"} for name, value in other.items()]
        named = ", ".join(f"{name} {value}" for name, value in other.items())
        raise Contradicted(f"The file itself says {named}; what it carries cannot be contradicted.", fields=fields)
    return report(read, supplied)


def _shown(row: store.Found) -> ImportOut:
    read, supplied = kept.told(row)
    return _out(row, read, supplied, report(read, supplied))


def _out(row: store.Found, read: Imported, supplied: Said, made: ImportedReport) -> ImportOut:
    own = {name: getattr(row, name) for name in ("id", "digest", "imported_by", "created_at", "changed_at")}
    return ImportOut(**own, supplied=supplied, recounts=bool(read.moved), report=made)


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
