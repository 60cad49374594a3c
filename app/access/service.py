"""Who may do what: tokens, projects, enrolments; and, where the database is our own, the tokens that nobody had to ask for."""

import hmac
import os
from pathlib import Path

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access import store, tokens
from app.access.principal import Principal, bearer
from app.access.seen import Seen, Who, narrowed
from app.access.tokens import Enrolment, Scope, Token
from app.errors import Forbidden, NotFound, Unauthenticated, did_you_mean
from app.settings import Settings
from app.storage.database import Database
from app.storage.journal import append
from app.storage.view import DEFAULT

CLI = "bezmen"
ENROL_MINUTES = 60


class NoSuchProject(NotFound):
    """There is no such project"""


class NoSuchToken(NotFound):
    """There is no such token"""


class Access(Seen):
    """What is made or revoked is noted in the log, in the same transaction, under the name of who did it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- tokens ---------------------------------------------------------------------------------------------------------------------------

    async def principal(self, token: str) -> Principal | None:
        """Who carries this token; None when it is unknown or revoked."""
        hash = tokens.digest(token)
        async with self._database.transaction() as connection:
            found = await store.find(connection, hash)
        if found is None or not hmac.compare_digest(found.hash, hash):
            return None
        return Principal(name=found.name, scopes=frozenset(found.scopes), token=found.id, project=found.project)

    async def create(self, name: str, scopes: tuple[Scope, ...], project: str | None = DEFAULT, *, by: str = CLI) -> str:
        """A new token of this project, or with None of every one; it is shown this once. Raises NoSuchProject, Forbidden."""
        token = tokens.make(tokens.prefix_for(scopes))
        async with self._database.transaction() as connection:
            await self._require(connection, project)
            await store.add(connection, name, scopes, tokens.digest(token), project)
            await append(connection, None, "token made", by, project=project, name=name, scopes=list(scopes))
        return token

    async def revoke(self, name: str, *, by: str = CLI) -> int:
        """How many live tokens of this name there were."""
        async with self._database.transaction() as connection:
            found = await store.revoke(connection, self.view, name=name)
            for token in found:
                await append(connection, None, "token revoked", by, project=token.project, name=token.name)
        return len(found)

    async def revoke_one(self, id: int, *, by: str) -> Token:
        """Raises NoSuchToken for one that was never there; revoking twice is revoking once."""
        async with self._database.transaction() as connection:
            for token in await store.revoke(connection, self.view, id=id):
                await append(connection, None, "token revoked", by, project=token.project, name=token.name)
            known = {token.id: token for token in await store.listed(connection, self.view)}
        if id not in known:
            raise NoSuchToken(f"There is no token {id}.")
        return known[id]

    async def listed(self) -> list[Token]:
        async with self._database.transaction() as connection:
            return await store.listed(connection, self.view)

    # --- projects -------------------------------------------------------------------------------------------------------------------------

    async def add_project(self, name: str, *, by: str = CLI) -> bool:
        """Whether it is new. Raises Forbidden for who administers one project alone."""
        if self.view.project is not None:
            raise Forbidden(f"A new project is made by who administers all of them; this is for the project {self.view.project}.")
        async with self._database.transaction() as connection:
            new = await store.add_project(connection, name)
            if new:
                await append(connection, None, "project made", by, project=name)
        return new

    async def projects(self) -> list[str]:
        async with self._database.transaction() as connection:
            return await store.projects(connection, self.view)

    async def require_project(self, name: str) -> None:
        """Raises NoSuchProject."""
        async with self._database.transaction() as connection:
            await self._require(connection, name)

    async def _require(self, connection: AsyncConnection, project: str | None) -> None:
        known = await store.projects(connection, self.view)
        if project is None and self.view.project is not None:
            raise Forbidden(f"What reaches every project is made by who administers all of them; this is for the project {self.view.project}.")
        if project is not None and project not in known:
            raise NoSuchProject(did_you_mean("project", project, known))

    # --- enrolment ------------------------------------------------------------------------------------------------------------------------

    async def invite(self, name: str, project: str | None = DEFAULT, *, minutes: float = ENROL_MINUTES, by: str = CLI) -> str:
        """A token that becomes a runner's token of this name, once and soon. Raises NoSuchProject, Forbidden."""
        token = tokens.make("bze")
        async with self._database.transaction() as connection:
            await self._require(connection, project)
            await store.add_enrolment(connection, name, tokens.digest(token), project, minutes, by)
            await append(connection, None, "enrolment made", by, project=project, name=name)
        return token

    async def enrol(self, token: str | None) -> tuple[str, str]:
        """The name and the token of a new runner. Raises Unauthenticated for a token that is unknown, used or too old."""
        made = tokens.make("bzr")
        async with self._database.transaction() as connection:
            found = None if token is None else await store.use_enrolment(connection, tokens.digest(token), tokens.digest(made))
            if found is not None:
                await append(connection, None, "runner enrolled", found.name, project=found.project, invited_by=found.created_by)
        if found is None:
            raise Unauthenticated("This enrolment token is not known here, was used already, or is too old. `bezmen token enrol NAME` makes another.")
        return found.name, made

    async def enrolments(self) -> list[Enrolment]:
        """Those that can still be used."""
        async with self._database.transaction() as connection:
            return await store.enrolments(connection, self.view)

    # --- what the service gives itself ----------------------------------------------------------------------------------------------------

    async def ensure_default(self) -> None:
        """The project of everything that nobody put into another one."""
        await self.add_project(DEFAULT)

    async def ensure_own(self, settings: Settings) -> None:
        """The files `admin.token` and `runner.token` of a service that starts its own database, readable by its owner alone."""
        await self._ensure(settings.admin_token_file, "admin", ("read", "submit", "admin"))
        await self._ensure(settings.runner_token_file, "local", ("runner",))

    async def _ensure(self, path: Path, name: str, scopes: tuple[Scope, ...]) -> None:
        if path.exists() and await self.principal(path.read_text().strip()) is not None:
            return
        await self.revoke(name)
        token = await self.create(name, scopes, project=None)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(token + "\n")


def access_service(request: Request, who: Who) -> Access:
    return narrowed(request, Access, who)


async def enrolled(request: Request) -> tuple[str, str]:
    """For a route that takes an enrolment token and nothing else: the name and token of the runner that it made."""
    access: Access = request.app.state.access
    return await access.enrol(bearer(request))
