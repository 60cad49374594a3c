"""Runs that are submitted together: all or none, one family."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.principal import Principal
from app.access.seen import Seen, Who, narrowed
from app.domain.spec import RunSpec
from app.domain.status import FINAL, RunState
from app.domain.twins import twins
from app.errors import Conflict, InvalidInput, NotFound, TooMany
from app.queue import labels, leases
from app.runners_registry.foreseen import NobodyOffers
from app.runners_registry.service import Registry
from app.runs import campaign_store, key_store, store
from app.runs.schemas import RunSummary
from app.runs.service import LARGEST, Runs
from app.runs.summary import summary_of
from app.storage.database import Database


class NoSuchCampaign(NotFound):
    """There is no such campaign"""


class CountedTwice(InvalidInput):
    """A campaign measures everything once"""


class AllEnded(Conflict):
    """All runs of this campaign have ended"""


class NothingToResume(Conflict):
    """There is nothing to resume"""


@dataclass(frozen=True)
class Campaign:
    """`runs` holds the newest run of each measurement, `earlier` those that were resumed since."""

    id: int
    title: str
    submitted_by: str
    created_at: datetime
    runs: tuple[RunSummary, ...]
    earlier: tuple[RunSummary, ...]


class Campaigns(Seen):
    def __init__(self, database: Database, registry: Registry, runs: Runs, *, queued_per_token: int) -> None:
        self._database = database
        self._registry = registry
        self._runs = runs
        self._queued_per_token = queued_per_token

    async def submit(self, title: str, specs: Sequence[RunSpec], *, principal: Principal, idempotency_key: str | None = None) -> tuple[int, bool]:
        """A campaign of queued runs and whether it is new: the same key gives the same campaign.

        Runs that differ in drafter and controller alone wait together, where a runner is known that can measure all of them.
        Raises CountedTwice, KeyReused, NobodyOffers, NotOffered, TooMany.
        """
        body = {"title": title, "runs": [spec.model_dump(mode="json") for spec in specs]}
        return await self._submit(title, specs, body, principal, idempotency_key)

    async def _submit(self, title: str, specs: Sequence[RunSpec], body: dict[str, Any], principal: Principal, key: str | None) -> tuple[int, bool]:
        """`body` is what was asked for, and what the same key must ask for again."""
        principal.need("submit")
        async with self._database.transaction() as connection:
            known = await _made(connection, body, principal, key)
        if known is not None:
            return known, False
        specs = await self._checked(specs, principal.home)
        together = await self._registry.groups(specs)
        async with self._database.transaction() as connection:
            known = await _made(connection, body, principal, key)
            if known is not None:
                return known, False
            await self._require_room(connection, principal, len(specs))
            campaign = await campaign_store.add(connection, principal.home, title, principal.name)
            for spec in specs:
                await self._add(connection, campaign, spec, spec in together, principal)
            await _keep(connection, body, principal, key, campaign)
        return campaign, True

    async def _checked(self, specs: Sequence[RunSpec], project: str) -> list[RunSpec]:
        """As they will be measured. What is wrong with any of them is said before that there is nobody to measure them."""
        found, nobody = [], None
        for spec in specs:
            try:
                found.append(await self._registry.check(spec, project))
            except NobodyOffers as error:
                nobody = error
        runners = await self._registry.known()
        # The defaults of a runner that is gone for good are nobody's any more.
        offers = [runner.offer for runner in runners if runner.live] or [runner.offer for runner in runners]
        if (counted := twins(specs if nobody else found, offers)) is not None:
            raise CountedTwice(counted.sentence)
        if nobody is not None:
            raise nobody
        return found

    async def get(self, campaign: int) -> Campaign:
        """Raises NoSuchCampaign."""
        async with self._database.transaction() as connection:
            row = await campaign_store.find(connection, self.view, campaign) if 0 < campaign <= LARGEST else None
            if row is None:
                raise await self._missing(connection, campaign)
            members = await store.of_campaign(connection, self.view, campaign)
        known = await self._registry.known() if any(member.state == RunState.QUEUED for member in members) else ()
        newest = {member.spec_digest: member.id for member in members}
        shown = {member.id: summary_of(member, known) for member in members}
        current = tuple(shown[member.id] for member in members if newest[member.spec_digest] == member.id)
        earlier = tuple(shown[member.id] for member in members if newest[member.spec_digest] != member.id)
        return Campaign(row.id, row.title, row.submitted_by, row.created_at, current, earlier)

    async def page(self, before: int | None, limit: int) -> list[tuple[int, str, str, datetime, dict[str, int]]]:
        """Newest first: number, title, who submitted it, when, runs by state. One more than `limit` where there is one."""
        async with self._database.transaction() as connection:
            rows = await campaign_store.page(connection, self.view, before, limit)
            counts = await campaign_store.counts(connection, [row.id for row in rows])
        return [(row.id, row.title, row.submitted_by, row.created_at, counts[row.id]) for row in rows]

    async def _missing(self, connection: AsyncConnection, campaign: int) -> NoSuchCampaign:
        newest = await campaign_store.newest(connection, self.view)
        return NoSuchCampaign(f"There is no campaign {campaign}. " + ("There are none yet." if newest is None else f"The newest is {newest}."))

    # --- all of its runs at once --------------------------------------------------------------------------------------------------------

    async def cancel(self, campaign: int, *, principal: Principal) -> int:
        """Ends every run of it that has not ended, and says how many. Raises NoSuchCampaign, AllEnded."""
        principal.need("submit")
        open_runs = [run.id for run in (await self.get(campaign)).runs if run.state not in FINAL]
        if not open_runs:
            raise AllEnded(f"All runs of campaign {campaign} have ended; there is nothing to cancel.")
        cancelled = 0
        async with self._database.transaction() as connection:
            for run in open_runs:
                before = await leases.cancel(connection, self.view, run, principal.name)
                cancelled += before not in FINAL
        return cancelled

    async def repeat(self, campaign: int, *, principal: Principal, idempotency_key: str | None = None) -> tuple[int, bool]:
        """A campaign of the same measurements and whether it is new: the same key gives the same campaign.

        Raises NoSuchCampaign, KeyReused, CountedTwice, NobodyOffers, NotOffered, TooMany.
        """
        found = await self.get(campaign)
        return await self._submit(found.title, [run.spec for run in found.runs], {"repeat": campaign}, principal, idempotency_key)

    async def resume(self, campaign: int, *, principal: Principal, idempotency_key: str | None = None) -> int:
        """New runs, in the same campaign, for those that were cancelled or failed where a retry makes sense; says how many. Under a key that has
        resumed it before there are none.

        A measurement counts once in the family, however often it was resumed. Raises NoSuchCampaign, KeyReused, NothingToResume, NotOffered, TooMany.
        """
        principal.need("submit")
        found, body = await self.get(campaign), {"resume": campaign}
        async with self._database.transaction() as connection:
            if await _made(connection, body, principal, idempotency_key) is not None:
                return 0
        lost = {run.id: run.spec for run in found.runs if run.resumable}
        if not lost:
            raise NothingToResume(f"No run of campaign {campaign} was cancelled or failed in a way that a retry could mend.")
        lost = {run: await self._registry.check(spec, principal.home) for run, spec in lost.items()}
        together = await self._registry.groups(list(lost.values()))
        async with self._database.transaction() as connection:
            if await _made(connection, body, principal, idempotency_key) is not None:
                return 0
            await self._require_room(connection, principal, len(lost))
            # Whoever resumes at the same moment waits here, and then finds that nothing is left to do.
            await key_store.lock(connection, "campaign", str(campaign))
            newest = {member.spec_digest: member for member in await store.of_campaign(connection, self.view, campaign)}
            gone = [member for member in newest.values() if member.id in lost]
            for member in gone:
                spec = lost[member.id]
                await self._add(connection, campaign, spec, spec in together, principal, digest=member.spec_digest)
            await _keep(connection, body, principal, idempotency_key, campaign)
        return len(gone)

    async def _require_room(self, connection: AsyncConnection, principal: Principal, more: int) -> None:
        if await store.queued_by(connection, principal.home, principal.name) + more > self._queued_per_token:
            raise TooMany(f"{principal.name} may have {self._queued_per_token} runs waiting; with these it would be more.")

    async def _add(
        self, connection: AsyncConnection, campaign: int, spec: RunSpec, together: bool, principal: Principal, *, digest: str | None = None
    ) -> int:
        """`digest` is that of the run whose measurement is asked for once more, as it was when that was submitted."""
        queue = labels.group_queue(campaign, spec) if together else None
        return await store.add(connection, principal.home, spec, principal.name, campaign=campaign, queue=queue, digest=digest)


async def _made(connection: AsyncConnection, body: dict[str, Any], principal: Principal, key: str | None) -> int | None:
    """The campaign that this key is about; until the caller's commit nobody else does anything under it. Raises KeyReused."""
    if key is None:
        return None
    await key_store.lock(connection, principal.key, key)
    kept = await key_store.find(connection, principal.key, key)
    return None if kept is None else kept.same("campaign", body)


async def _keep(connection: AsyncConnection, body: dict[str, Any], principal: Principal, key: str | None, campaign: int) -> None:
    if key is not None:
        await key_store.keep(connection, principal.key, key, body, campaign=campaign)


def campaigns_service(request: Request, who: Who) -> Campaigns:
    return narrowed(request, Campaigns, who)
