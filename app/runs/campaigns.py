"""Runs that are submitted together: all or none, one family."""

from collections.abc import Sequence

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.principal import Principal
from app.access.seen import Seen, Who, narrowed
from app.domain.spec import RunSpec
from app.errors import NotFound, TooMany
from app.queue import labels
from app.runners_registry.service import Registry
from app.runs import store
from app.runs.keys import KeyReused, same
from app.runs.schemas import RunSummary
from app.runs.service import LARGEST, Runs
from app.storage.database import Database


class NoSuchCampaign(NotFound):
    """There is no such campaign"""


class Campaigns(Seen):
    def __init__(self, database: Database, registry: Registry, runs: Runs, *, queued_per_token: int) -> None:
        self._database = database
        self._registry = registry
        self._runs = runs
        self._queued_per_token = queued_per_token

    async def submit(self, title: str, specs: Sequence[RunSpec], *, principal: Principal, idempotency_key: str | None = None) -> tuple[int, bool]:
        """A campaign of queued runs and whether it is new: the same key gives the same campaign.

        Runs that differ in drafter and controller alone wait together, where a runner is known that can measure all of them.
        Raises KeyReused, NobodyOffers, NotOffered, TooMany.
        """
        principal.need("submit")
        async with self._database.transaction() as connection:
            known = await _repeated(connection, specs, principal, idempotency_key)
        if known is not None:
            return known, False
        for spec in specs:
            await self._registry.check(spec, principal.home)
        together = await self._registry.groups(specs)
        async with self._database.transaction() as connection:
            known = await _repeated(connection, specs, principal, idempotency_key)
            if known is not None:
                return known, False
            if await store.queued_by(connection, principal.home, principal.name) + len(specs) > self._queued_per_token:
                raise TooMany(f"{principal.name} may have {self._queued_per_token} runs waiting; with these it would be more.")
            campaign = await store.add_campaign(connection, principal.home, title, principal.name)
            for place, spec in enumerate(specs):
                queue = labels.group_queue(campaign, spec) if spec in together else None
                run = await store.add(connection, principal.home, spec, principal.name, campaign=campaign, queue=queue)
                if idempotency_key is not None:
                    await store.remember_key(connection, principal.key, _member(idempotency_key, place), run, spec.model_dump(mode="json"))
        return campaign, True

    async def get(self, campaign: int) -> tuple[str, list[RunSummary]]:
        """A campaign's title and its runs. Raises NoSuchCampaign."""
        found = None
        if 0 < campaign <= LARGEST:
            async with self._database.transaction() as connection:
                found = await store.campaign_runs(connection, self.view, campaign)
        if found is None:
            raise NoSuchCampaign(f"There is no campaign {campaign}.")
        return found[0], [await self._runs.get(run) for run in found[1]]


async def _repeated(connection: AsyncConnection, specs: Sequence[RunSpec], principal: Principal, key: str | None) -> int | None:
    """The campaign that this key made; until the caller's commit nobody else makes one under it. Raises KeyReused where its runs are not these."""
    if key is None:
        return None
    await store.lock_key(connection, principal.key, key)
    first = await store.keyed(connection, principal.key, _member(key, 0))
    campaign = None if first is None else await store.campaign_of(connection, first[0])
    if campaign is None:
        return None
    for place, spec in enumerate(specs):
        known = await store.keyed(connection, principal.key, _member(key, place))
        if known is None:
            raise KeyReused(f"Campaign {campaign} was submitted under this key with fewer runs.")
        same(known, spec)
    if await store.keyed(connection, principal.key, _member(key, len(specs))) is not None:
        raise KeyReused(f"Campaign {campaign} was submitted under this key with more runs.")
    return campaign


def _member(key: str, place: int) -> str:
    """The key of one run of a campaign; a key of a run alone may be as long, but has no such end."""
    return f"{key}\x1f{place}"


def campaigns_service(request: Request, who: Who) -> Campaigns:
    return narrowed(request, Campaigns, who)
