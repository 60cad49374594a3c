"""The board of claims: enter, list, withdraw. What is claimed is never added to what was measured."""

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.principal import Principal
from app.access.seen import Seen, Who, narrowed
from app.claims import store
from app.claims.published import BOARD
from app.claims.schemas import Claim, ClaimIn, System
from app.errors import Forbidden, InvalidInput, NotFound, did_you_mean
from app.metrics.catalogue import METRICS
from app.storage.database import Database

LARGEST = 2**63 - 1
SYSTEM = {"system", "kind", "drafter"}


class NoSuchClaim(NotFound):
    """There is no such claim"""


class UnknownSystem(InvalidInput):
    """This system is not on the board"""


class Claims(Seen):
    def __init__(self, database: Database) -> None:
        self._database = database

    async def enter_published(self) -> None:
        """At every start, by any number of services at once."""
        async with self._database.transaction() as connection:
            await store.enter_published(connection, BOARD)

    async def board(self) -> list[System]:
        async with self._database.transaction() as connection:
            return await store.board(connection, self.view)

    async def get(self, claim: int) -> Claim:
        """Raises NoSuchClaim."""
        found = None
        if 0 < claim <= LARGEST:
            async with self._database.transaction() as connection:
                found = await store.find(connection, self.view, claim)
        if found is None:
            raise NoSuchClaim(f"There is no claim {claim}.")
        return found

    async def enter(self, claim: ClaimIn, *, principal: Principal) -> Claim:
        """A claim of this principal's project. Raises UnknownSystem for a new system without a kind, InvalidInput for an unknown definition."""
        principal.need("submit")
        if claim.definition is not None and claim.definition not in METRICS:
            said = did_you_mean("figure", claim.definition, METRICS)
            raise InvalidInput(said, fields=[{"pointer": "/definition", "detail": said}])
        async with self._database.transaction() as connection:
            system = await store.system_of(connection, self.view, claim.system)
            if system is None:
                system = await self._new(connection, claim, principal)
            row = claim.model_dump(exclude=SYSTEM) | {"entered_by": principal.name}
            made = await store.add(connection, principal.home, system, row)
        return await self.get(made)

    async def _new(self, connection: AsyncConnection, claim: ClaimIn, principal: Principal) -> int:
        if claim.kind is None:
            known = [system.name for system in await store.board(connection, self.view)]
            said = f"{did_you_mean('system', claim.system, known)} To enter a new one, say its kind too."
            raise UnknownSystem(said, fields=[{"pointer": "/system", "detail": said}])
        row = {"name": claim.system, "kind": claim.kind, "about": "", "drafter": claim.drafter, "entered_by": principal.name}
        return await store.add_system(connection, principal.home, row)

    async def withdraw(self, claim: int, *, principal: Principal) -> None:
        """Takes a claim off the board; its row is kept. Raises NoSuchClaim, Forbidden for what belongs to all projects."""
        principal.need("admin")
        await self.get(claim)
        async with self._database.transaction() as connection:
            await store.withdraw(connection, self.view, claim)
            if await store.find(connection, self.view, claim) is not None:
                raise Forbidden("This claim comes with the service; a token that administers all projects may withdraw it.")


def claims_service(request: Request, who: Who) -> Claims:
    return narrowed(request, Claims, who)
