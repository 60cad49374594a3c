"""Who measures next: a runner asks, waits a while, and leaves with a run and the runs that are measured beside it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from fastapi import Request
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access import tokens
from app.access.principal import Principal
from app.domain.lease import MOST_TOGETHER, Lease
from app.domain.protocol import PROTOCOL
from app.domain.spec import RunSpec
from app.errors import Conflict, TooMany
from app.queue import labels, leases
from app.runners_registry.fitting import labelled, serves, with_suites
from app.runners_registry.service import Registry
from app.storage.database import Database
from app.storage.notifications import Notifications
from app.suites.service import Suites

POLL_SECONDS = 1.0


class LeaseHeld(TooMany):
    """This runner is at a run already"""


class OfferMissing(Conflict):
    """This runner has not said what it offers"""


async def free_runner(registry: Registry, connection: AsyncConnection, token: int) -> Row[Any]:
    """The runner of this token, locked and at no work, be it a run or a probe. Raises OfferMissing, LeaseHeld."""
    runner = await registry.lock(connection, token)
    if runner is None:
        raise OfferMissing("Publish an offer first: PUT /api/v1/runners/me/offer.")
    busy = await leases.at_work(connection, runner.id)
    if busy is not None:
        # A runner that was killed and started again waits for its own lost lease.
        said = f"Runner {runner.name} is at {busy}; it may lease again when that attempt ends or its lease runs out."
        raise LeaseHeld(said, headers={"Retry-After": "5"})
    return runner


class Leasing:
    def __init__(
        self,
        database: Database,
        registry: Registry,
        suites: Suites,
        notifications: Notifications,
        *,
        lease_seconds: float,
        beat_seconds: float,
    ) -> None:
        self._database = database
        self._registry = registry
        self._suites = suites
        self._notifications = notifications
        self.lease_seconds = lease_seconds
        self.beat_seconds = beat_seconds

    async def lease(self, principal: Principal, wait_seconds: float, gone: Callable[[], Awaitable[bool]]) -> Lease | None:
        """The next run that this runner can measure; None when none came within `wait_seconds` or the runner is `gone`.

        Raises OfferMissing, LeaseHeld.
        """
        until = asyncio.get_running_loop().time() + wait_seconds
        while not await gone():
            try:
                found = await self._try_lease(principal)
            except leases.RunIsHeld:
                found = None
            left = until - asyncio.get_running_loop().time()
            if found is not None or left <= 0 or self._notifications.stopping.is_set():
                return found
            await self._notifications.wait("queue", min(left, POLL_SECONDS))
        return None

    async def _try_lease(self, principal: Principal) -> Lease | None:
        assert principal.token is not None
        async with self._database.transaction() as connection:
            runner = await free_runner(self._registry, connection, principal.token)
            offer = await self._registry.offer_of(connection, runner.id)
            waiting = await leases.waiting(connection, principal.view)
            stored = await self._suites.waited_for(connection, principal.view)
            offers = {queue: with_suites(offer, [stored[queue]] if queue in stored else ()) for queue in waiting}
            queues = [q for q, specs in waiting.items() if all(labelled(spec, offer) and serves(spec, offers[q]) for spec in specs)]
            found = await self._stay(connection, runner, queues, waiting) or await self._take(connection, runner, queues)
            if found is None:
                return None
            together = await self._together(connection, runner, found)
            suite = await self._suites.selected(connection, found[1].run, found[1].spec)
        return found[1].model_copy(update={"siblings": together, "suite": suite})

    async def _stay(
        self, connection: AsyncConnection, runner: Row[Any], queues: list[str], waiting: dict[str, list[RunSpec]]
    ) -> tuple[str, Lease] | None:
        """The next run of the campaign and on the target that this runner measured last: it may have the weights loaded."""
        last = await leases.last_of(connection, runner.id)
        if last is None:
            return None
        campaign, spec = last
        near = [queue for queue in queues if labels.campaign_of(queue) == campaign and waiting[queue][0].target == spec.target]
        return await self._take(connection, runner, near) if near else None

    async def _together(self, connection: AsyncConnection, runner: Row[Any], first: tuple[str, Lease]) -> tuple[Lease, ...]:
        """More runs of the same queue, where that is a campaign's: whoever measures one of them measures them side by side."""
        queue = first[0]
        siblings: list[Lease] = []
        while labels.is_group(queue) and len(siblings) < MOST_TOGETHER - 1:
            more = await self._take(connection, runner, [queue], beside=first[1].attempt_id)
            if more is None:
                break
            siblings.append(more[1])
        return tuple(siblings)

    async def _take(self, connection: AsyncConnection, runner: Row[Any], queues: list[str], *, beside: int | None = None) -> tuple[str, Lease] | None:
        """The next run of these queues and the queue that it was in."""
        token = tokens.make("bza")
        taken = await leases.take(connection, runner, queues, tokens.digest(token), self.lease_seconds, beside=beside)
        if taken is None:
            return None
        return taken.queue, Lease(
            run=taken.run, attempt=taken.number, attempt_id=taken.attempt, token=token, spec=taken.spec, campaign=taken.campaign,
            lease_seconds=self.lease_seconds, beat_seconds=min(self.beat_seconds, self.lease_seconds / 3), protocol=PROTOCOL,
        )  # fmt: skip


def leasing(request: Request) -> Leasing:
    return cast(Leasing, request.app.state.leasing)
