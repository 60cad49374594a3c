"""What can be done with probes: submit, look, cancel, and what a runner does that holds one."""

import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access import tokens
from app.access.principal import Principal
from app.access.seen import Seen, Who, narrowed
from app.attempts.leasing import free_runner
from app.attempts.service import StaleAttempt
from app.domain.probe import FEWEST_TOKENS, ProbeEnd, ProbeFound, ProbeLease, ProbeSpec
from app.domain.prompt import SuiteError
from app.domain.status import FINAL, RunState
from app.errors import Conflict, InvalidInput, NotFound, TooMany, Unauthenticated
from app.probes import agreement, store
from app.probes.schemas import ProbeFilter, ProbeLine, ProbePage
from app.queue.sweeper import silent
from app.runners_registry.fitting import probes
from app.runners_registry.service import Registry
from app.storage.database import Database
from app.storage.view import View
from app.suites.shipped import of_probe

LARGEST = 2**63 - 1


class NoSuchProbe(NotFound):
    """There is no such probe"""


class ProbeEnded(Conflict):
    """This probe has ended already"""


class OtherProbe(InvalidInput):
    """What was found is not what the probe asks for"""


class Probes(Seen):
    def __init__(self, database: Database, registry: Registry, *, queued_per_token: int, lease_seconds: float, beat_seconds: float) -> None:
        self._database = database
        self._registry = registry
        self._queued_per_token = queued_per_token
        self.lease_seconds = lease_seconds
        self.beat_seconds = min(beat_seconds, lease_seconds / 3)

    # --- submitting and looking ---------------------------------------------------------------------------------------------------------

    async def submit(self, spec: ProbeSpec, *, principal: Principal, idempotency_key: str | None = None) -> tuple[ProbeLine, bool]:
        """A queued probe, and whether it is new: the same key gives the same probe.

        Raises KeyReused, NobodyOffers, NotOffered, TooMany."""
        principal.need("submit")
        await self._registry.check_probe(spec, principal.home)
        key = None if idempotency_key is None else (principal.key, idempotency_key)
        async with self._database.transaction() as connection:
            kept = None if key is None else await store.made_under(connection, *key)
            if kept is None and await store.queued_by(connection, principal.home, principal.name) >= self._queued_per_token:
                raise TooMany(f"{self._queued_per_token} probes of {principal.name} wait already; wait for some or cancel them.")
            made = await store.add(connection, principal.home, spec, principal.name, key) if kept is None else None
            probe = made if kept is None else kept.same("probe", spec.model_dump(mode="json"))
        assert probe is not None
        return await self.get(probe), made is not None

    async def get(self, probe: int) -> ProbeLine:
        """Raises NoSuchProbe."""
        return _line(await self._row(probe))

    async def found(self, probe: int) -> tuple[ProbeLine, ProbeFound | None]:
        """A probe, and what was found once it has succeeded. Raises NoSuchProbe."""
        row = await self._row(probe)
        return _line(row), None if row.found is None else ProbeFound.model_validate(row.found)

    async def page(self, filter: ProbeFilter) -> ProbePage:
        async with self._database.transaction() as connection:
            rows = await store.page(connection, self.view, filter.cursor, filter.limit)
        items = [_line(row) for row in rows[: filter.limit]]
        return ProbePage(items=items, next_cursor=items[-1].id if len(rows) > filter.limit else None)

    async def cancel(self, probe: int, *, principal: Principal) -> ProbeLine:
        """Ends a probe at once. Cancelling twice is cancelling once. Raises NoSuchProbe, ProbeEnded."""
        principal.need("submit")
        await self._row(probe)
        async with self._database.transaction() as connection:
            row = await store.locked(connection, probe)
            assert row is not None
            if row.state not in FINAL:
                await store.cancel(connection, row)
            elif row.state != RunState.CANCELLED:
                raise ProbeEnded(f"Probe {probe} has {row.state} already; there is nothing to cancel.")
        return await self.get(probe)

    async def _row(self, probe: int) -> store.Found:
        async with self._database.transaction() as connection:
            row = await store.find(connection, self.view, probe) if 0 < probe <= LARGEST else None
            if row is None:
                newest = await store.newest(connection, self.view)
                raise NoSuchProbe(f"There is no probe {probe}. " + ("There are no probes yet." if newest is None else f"The newest is {newest}."))
        return row

    # --- the runner's side --------------------------------------------------------------------------------------------------------------

    async def lease(self, principal: Principal) -> ProbeLease | None:
        """The next probe that this runner can make; None when there is none. Raises OfferMissing, LeaseHeld."""
        assert principal.token is not None
        token = tokens.make("bza")
        async with self._database.transaction() as connection:
            runner = await free_runner(self._registry, connection, principal.token)
            offer = await self._registry.offer_of(connection, runner.id)
            queues = [queue for queue, spec in (await store.waiting(connection, principal.view)).items() if probes(spec, offer)]
            row = await store.take(connection, runner, queues, tokens.digest(token), self.lease_seconds)
        if row is None:
            return None
        return ProbeLease(
            probe=row.id, attempt=row.attempt, token=token, spec=ProbeSpec.model_validate(row.spec), lease_seconds=self.lease_seconds,
            beat_seconds=self.beat_seconds,
        )  # fmt: skip

    async def authenticate(self, probe: int, attempt: int, token: str | None) -> None:
        """Raises Unauthenticated unless this is the token that the lease gave out for this attempt, and no later one was made."""
        async with self._database.transaction() as connection:
            row = await store.find(connection, View(None), probe)
        expected = None if row is None or row.attempt != attempt else row.token_hash
        if token is None or expected is None or not hmac.compare_digest(bytes(expected), tokens.digest(token)):
            raise Unauthenticated("Send the token that the lease gave out for this attempt.")

    async def beat(self, probe: int, attempt: int) -> float:
        """Keeps the lease; the seconds that it lasts from now on. Raises StaleAttempt."""
        async with self._held(probe, attempt) as (connection, row):
            self._require_live(row)
            await store.beat(connection, row, self.lease_seconds)
        return self.lease_seconds

    async def finish(self, probe: int, attempt: int, end: ProbeEnd) -> RunState:
        """Ends the probe as its runner says. The same word twice is one word. Raises StaleAttempt, OtherProbe."""
        async with self._held(probe, attempt) as (connection, row):
            if row.state in FINAL and end == _end_of(row):
                return RunState(row.state)
            self._require_live(row)
            if end.found is not None:
                await self._require_agreement(connection, row, end.found)
            return await store.end(connection, row, end)

    async def release(self, probe: int, attempt: int, reason: str) -> RunState:
        """Gives the probe back at once, as when a runner is told to stop. Raises StaleAttempt."""
        async with self._held(probe, attempt) as (connection, row):
            self._require_live(row)
            return await store.lose(connection, row, reason)

    async def sweep(self) -> int:
        """Ends the attempts whose leases ran out; how many."""
        async with self._database.transaction() as connection:
            late = await store.overdue(connection)
        return sum([await self._expire(probe) for probe in late])

    async def _expire(self, probe: int) -> bool:
        async with self._database.transaction() as connection:
            row = await store.locked(connection, probe)
            late = row is not None and row.state == RunState.RUNNING and bool(row.expired)
            if row is not None and late:
                await store.lose(connection, row, silent(self.lease_seconds))
        return late

    @asynccontextmanager
    async def _held(self, probe: int, attempt: int) -> AsyncIterator[tuple[AsyncConnection, store.Found]]:
        """The probe, locked, if this is still its attempt: nobody may write under a lease that is over, swept or not."""
        await self._expire(probe)
        async with self._database.transaction() as connection:
            row = await store.locked(connection, probe)
            if row is None or row.attempt != attempt:
                raise StaleAttempt(f"Attempt {attempt} of probe {probe} is lost.", action="lost")
            yield connection, row

    @staticmethod
    def _require_live(row: store.Found) -> None:
        if row.state != RunState.RUNNING:
            action = "cancel" if row.state == RunState.CANCELLED else "lost"
            raise StaleAttempt(f"Probe {row.id} is {row.state}.", action=action)

    async def _require_agreement(self, connection: AsyncConnection, row: store.Found, found: ProbeFound) -> None:
        spec, offer = ProbeSpec.model_validate(row.spec), await self._registry.offer_of(connection, row.runner_id)
        known = await self._known(connection, View(row.project), spec, found)
        told = agreement.disagreements(found, spec, offer, known, FEWEST_TOKENS)
        wrong = [{"pointer": f"/end/found/{field}", "detail": detail} for field, detail in told]
        if wrong:
            raise OtherProbe("; ".join(each["detail"] for each in wrong) + ".", fields=wrong)

    async def _known(self, connection: AsyncConnection, view: View, spec: ProbeSpec, found: ProbeFound) -> agreement.Known:
        """What others told of the same model. Raises OtherProbe where the suite has no such prompts."""
        model = await self._registry.anatomy(connection, view, spec.model, found.weights_digest)
        before = await store.told(connection, view, found.weights_digest, spec.ablation.kind)
        try:
            suite = of_probe(spec)
        except SuiteError as error:
            raise OtherProbe(f"{error}.") from error
        shares = model.shares if spec.ablation.kind == "component" else frozenset()
        return agreement.Known(
            layers=model.layers | {layers for layers, _ in before},
            shares=shares | {share for _, share in before if share is not None and spec.ablation.kind == "component"},
            dense=model.dense,
            suite=suite,
        )


def _line(row: store.Found) -> ProbeLine:
    names = [name for name in ProbeLine.model_fields if name != "spec"]
    values: dict[str, Any] = {name: getattr(row, name) for name in names}
    return ProbeLine(**values | {"spec": ProbeSpec.model_validate(row.spec)})


def _end_of(row: store.Found) -> ProbeEnd | None:
    if row.found is not None:
        return ProbeEnd(found=ProbeFound.model_validate(row.found))
    if row.failure is None or row.failure_code is None:
        return None
    return ProbeEnd(code=row.failure_code, reason=row.failure, retry_makes_sense=bool(row.retry_makes_sense))


def probes_service(request: Request, who: Who) -> Probes:
    return narrowed(request, Probes, who)
