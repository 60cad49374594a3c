"""Suites that somebody uploaded: taken, shown as far as their owner allows, and handed to the runner that measures a run."""

import asyncio
import logging
from collections.abc import Sequence

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.principal import Principal
from app.access.seen import Seen, Who, narrowed
from app.domain.catalogue import HandedSuite, OfferedSuite
from app.domain.prompt import Fault, Prompt, SuiteError
from app.domain.spec import RunSpec
from app.domain.suite import SHIPPED, SHOWN_FAULTS, Selection, Suite, named, parse, select, selection
from app.errors import AppError, Conflict, InvalidInput, TooMany
from app.reports.format import say
from app.storage.database import Database
from app.storage.journal import append, times
from app.storage.view import View
from app.suites import store
from app.suites.schemas import PromptPage, SuiteOut, UploadOut, WarningOut
from app.suites.shipped import shipped

logger = logging.getLogger(__name__)
UPLOADED = "suite uploaded"


class WrongSuite(InvalidInput):
    """This file is no suite"""

    faults: tuple[Fault, ...] = ()


class WrongSelection(InvalidInput):
    """The suite does not have what the run asks for"""


class SuiteTaken(Conflict):
    """A suite does not change"""


class PrivateText(AppError):
    """The text of this suite is shown to nobody"""

    status = 403


class Suites(Seen):
    def __init__(self, database: Database, *, uploads_per_token: int) -> None:
        self._database = database
        self._uploads_per_token = uploads_per_token

    # --- uploading ----------------------------------------------------------------------------------------------------------------------

    async def upload(self, id: str, content: bytes, *, private: bool, principal: Principal) -> tuple[UploadOut, bool]:
        """A stored suite and whether it is new: the same content under the same id is the same suite. Raises WrongSuite, SuiteTaken."""
        principal.need("submit")
        suite, warnings = await asyncio.to_thread(_read, id, content)
        async with self._database.transaction() as connection:
            await store.lock(connection, principal.home, id)
            known = await store.find(connection, View(principal.home), id)
            if known is not None:
                _require_same(suite, known.digest, private=private, was=known.private)
                return _answer(_of_row(known, suite.apart), warnings), False
            offered = await store.offered_digests(connection, id)
            if offered:
                _require_same(suite, *sorted(offered), private=private, was=False)
                return _answer(_of_offer(suite.offered()), warnings), False
            if await times(connection, UPLOADED, principal.name, principal.home, hours=24) >= self._uploads_per_token:
                said = f"{principal.name} has uploaded {self._uploads_per_token} suites in 24 hours, and may not upload more; try again tomorrow."
                raise TooMany(said, headers={"Retry-After": "3600"})
            made = await store.add(connection, principal.home, suite, private=private, uploaded_by=principal.name)
            told = {"suite": id, "digest": suite.digest, "prompts": len(suite.prompts), "private": private}
            await append(connection, None, UPLOADED, principal.name, project=principal.home, **told)
        return _answer(_of_row(made, suite.apart), warnings), True

    # --- looking ------------------------------------------------------------------------------------------------------------------------

    async def listed(self) -> list[SuiteOut]:
        async with self._database.transaction() as connection:
            rows = await store.listed(connection, self.view)
            apart = await store.apart(connection, [row.id for row in rows])
        return [_of_row(row, apart[row.id]) for row in rows]

    async def find(self, id: str) -> SuiteOut | None:
        async with self._database.transaction() as connection:
            row = await store.find(connection, self.view, id)
            apart = {} if row is None else await store.apart(connection, [row.id])
        return None if row is None else _of_row(row, apart[row.id])

    async def prompts(self, id: str, after: int, limit: int) -> PromptPage | None:
        """A page of the prompts behind a place; None for a suite that nobody uploaded. Raises PrivateText."""
        async with self._database.transaction() as connection:
            row = await store.find(connection, self.view, id)
            if row is None:
                return None
            if row.private:
                raise PrivateText(f"Suite {id} is private: its text goes to the runner that measures a run with it, and nowhere else.")
            found: list[Prompt] = await store.texts(connection, row.id, after, limit + 1)
        return PromptPage(items=found[:limit], next_place=after + limit if len(found) > limit else None)

    # --- measuring ----------------------------------------------------------------------------------------------------------------------

    async def offered(self, connection: AsyncConnection, view: View) -> list[OfferedSuite]:
        """What every runner has, since the prompts come with the lease."""
        return [_as_offered(row) for row in await store.listed(connection, view)]

    async def waited_for(self, connection: AsyncConnection, view: View) -> dict[str, OfferedSuite]:
        """The stored suite that the runs of a queue ask for, by queue."""
        return {queue: _as_offered(row) for queue, row in (await store.waited_for(connection, view)).items()}

    async def check(self, connection: AsyncConnection, spec: RunSpec, project: str, offered: Sequence[OfferedSuite]) -> int | None:
        """How many prompts the suite has for this run, its limit apart; None where runners alone know that, of whose suites these are `offered`.

        Raises WrongSelection where there are none."""
        row = await store.find(connection, View(project), spec.suite.id)
        known = [] if row is None else [await self._suite(connection, row)]
        if row is None:
            named = [shipped().get(suite.digest) for suite in offered if suite.id == spec.suite.id]
            known = [suite for suite in named if suite is not None]
            if len(known) < len(named):
                return None
        try:
            return min((len(select(suite, spec.language, spec.suite.profiles)) for suite in known), default=None)
        except SuiteError as error:
            raise WrongSelection(f"{error}.", fields=[{"pointer": "/suite", "detail": str(error)}]) from error

    async def selected(self, connection: AsyncConnection, run: int, spec: RunSpec) -> Selection | None:
        """The prompts of a run of a stored suite, for the runner that has just leased it; None where the runner has the suite itself."""
        row = await store.of_run(connection, run)
        if row is None:
            return None
        try:
            return await self._select(connection, row, spec)
        except SuiteError as error:
            # It was checked at submission; the runner then says that it has no such suite, and the line behind goes on.
            logger.error("run %s cannot be given its prompts: %s", run, error, extra={"run": run})
            return None

    async def asked(self, connection: AsyncConnection, run: int, spec: RunSpec, offered: Sequence[OfferedSuite]) -> tuple[Prompt, ...] | None:
        """The prompts of a run whose runner has the suites `offered`; None where runners alone know them."""
        handed = await self.selected(connection, run, spec)
        if handed is not None:
            return handed.prompts
        known = [suite for each in offered if each.id == spec.suite.id and (suite := shipped().get(each.digest)) is not None]
        try:
            return select(known[0], spec.language, spec.suite.profiles, spec.suite.limit) if len(known) == 1 else None
        except SuiteError:
            return None

    async def of_run(self, connection: AsyncConnection, run: int) -> OfferedSuite | None:
        row = await store.of_run(connection, run)
        return None if row is None else _as_offered(row)

    async def is_private(self, connection: AsyncConnection, run: int) -> bool:
        return await store.is_private(connection, run)

    async def _select(self, connection: AsyncConnection, row: store.Found, spec: RunSpec) -> Selection:
        return selection(await self._suite(connection, row), spec.language, spec.suite, private=row.private)

    @staticmethod
    async def _suite(connection: AsyncConnection, row: store.Found) -> Suite:
        return Suite(id=row.name, version=row.version, prompts=tuple(await store.texts(connection, row.id)), digest=row.digest)


def _read(id: str, content: bytes) -> tuple[Suite, list[Fault]]:
    try:
        named(id)
    except SuiteError as error:
        raise WrongSuite(f"{error}.", fields=[{"parameter": "id", "detail": str(error)}]) from error
    if id.startswith(SHIPPED):
        said = f"Names that start with {SHIPPED} are kept for the suites that come with Bezmen; name this one otherwise."
        raise WrongSuite(said, fields=[{"parameter": "id", "detail": said}])
    try:
        return parse(id, content)
    except SuiteError as error:
        shown = error.faults[:SHOWN_FAULTS]
        fields = [{"line": str(fault.line or ""), "field": fault.field or "", "detail": say(fault.sentence)} for fault in shown]
        count = len(error.faults)
        counted = f"There are {count} faults in the file of {id}." if count > 1 else f"There is a fault in the file of {id}."
        wrong = WrongSuite(counted if count else f"{error}.", fields=fields, more=count - len(shown))
        wrong.faults = error.faults
        raise wrong from error


def _require_same(suite: Suite, *digests: str, private: bool, was: bool) -> None:
    """Raises SuiteTaken where the id stands for other prompts already, or for the same ones shown to others than asked."""
    if suite.digest not in digests:
        following = f"{suite.id.removesuffix(suite.version)}{int(suite.version) + 1}"
        raise SuiteTaken(
            f"Suite {suite.id} is here already with other prompts: its digest is {' or '.join(digests)}, that of this file {suite.digest}. "
            f"Runs were measured with it, so it does not change; upload the new one as {following}.",
            digest=digests[0],
        )
    if private != was:
        state, asked = ("private", "public") if was else ("public", "private")
        raise SuiteTaken(f"Suite {suite.id} is here already and {state}; it cannot become {asked}.", digest=suite.digest)


def shipped_prompts(digest: str, after: int, limit: int) -> PromptPage | None:
    """The same of a suite that comes with Bezmen; None for any other that a runner has."""
    suite = shipped().get(digest)
    if suite is None:
        return None
    start = after + 1
    return PromptPage(items=list(suite.prompts[start : start + limit]), next_place=after + limit if start + limit < len(suite.prompts) else None)


def _of_row(row: store.Found, apart: Sequence[str]) -> SuiteOut:
    return SuiteOut(
        id=row.name, version=row.version, digest=row.digest, languages=tuple(row.languages), profiles=tuple(row.profiles), prompts=row.prompts,
        origin="uploaded", private=row.private, counts=row.counts, parallel=row.parallel,
        apart=tuple(apart), uploaded_by=row.uploaded_by, uploaded_at=row.uploaded_at,
    )  # fmt: skip


def _of_offer(suite: OfferedSuite) -> SuiteOut:
    known = shipped().get(suite.digest)
    told = {} if known is None else {"counts": known.counts(), "parallel": known.parallel, "apart": known.apart}
    return SuiteOut(origin="runner", **suite.model_dump(), **told)


def _as_offered(row: store.Found) -> HandedSuite:
    return HandedSuite(
        id=row.name, version=row.version, digest=row.digest, languages=tuple(row.languages), profiles=tuple(row.profiles), prompts=row.prompts
    )


def _answer(suite: SuiteOut, warnings: Sequence[Fault]) -> UploadOut:
    shown = [WarningOut(line=fault.line, field=fault.field, detail=say(fault.sentence)) for fault in warnings[:SHOWN_FAULTS]]
    return UploadOut(**suite.model_dump(), warned=len(warnings), warnings=shown)


def merged(stored: Sequence[SuiteOut], offered: Sequence[OfferedSuite]) -> list[SuiteOut]:
    """Everything that a run may name. What is stored says more of the same prompts; where those of a runner under its id are others, these stand."""
    brought = {suite.id: suite.digest for suite in offered if not isinstance(suite, HandedSuite)}
    shown = [suite for suite in stored if brought.get(suite.id, suite.digest) == suite.digest]
    taken = {suite.id for suite in shown}
    return [*(_of_offer(suite) for suite in offered if suite.id not in taken), *shown]


def suites_service(request: Request, who: Who) -> Suites:
    return narrowed(request, Suites, who)
