"""Who may do what; and, where the database is our own, the tokens that nobody had to ask for."""

import hmac
import os
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncConnection

from app.access import store, tokens
from app.access.principal import Principal
from app.access.store import Token
from app.access.tokens import Scope
from app.errors import NotFound, did_you_mean
from app.settings import Settings
from app.storage.database import Database
from app.storage.view import DEFAULT


class NoSuchProject(NotFound):
    """There is no such project"""


class Access:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def principal(self, token: str) -> Principal | None:
        """Who carries this token; None when it is unknown or revoked."""
        hash = tokens.digest(token)
        async with self._database.transaction() as connection:
            found = await store.find(connection, hash)
        if found is None or not hmac.compare_digest(found.hash, hash):
            return None
        return Principal(name=found.name, scopes=frozenset(found.scopes), token=found.id, project=found.project)

    async def create(self, name: str, scopes: tuple[Scope, ...], project: str | None = DEFAULT) -> str:
        """A new token of this project, or with None of every one; it is shown this once. Raises NoSuchProject."""
        token = tokens.make(tokens.prefix_for(scopes))
        async with self._database.transaction() as connection:
            await self._require(connection, project)
            await store.add(connection, name, scopes, tokens.digest(token), project)
        return token

    async def revoke(self, name: str) -> int:
        async with self._database.transaction() as connection:
            return await store.revoke(connection, name)

    async def listed(self) -> list[Token]:
        async with self._database.transaction() as connection:
            return await store.listed(connection)

    async def add_project(self, name: str) -> bool:
        """Whether it is new."""
        async with self._database.transaction() as connection:
            return await store.add_project(connection, name)

    async def projects(self) -> list[str]:
        async with self._database.transaction() as connection:
            return await store.projects(connection)

    async def _require(self, connection: AsyncConnection, project: str | None) -> None:
        known = await store.projects(connection)
        if project is not None and project not in known:
            raise NoSuchProject(did_you_mean("project", project, known))

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
