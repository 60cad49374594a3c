"""The runner's side of a run that it holds: heartbeat, facts, finish, release. What a stale attempt sends is refused, whatever it is."""

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from operator import itemgetter
from typing import Annotated, Any, cast

from fastapi import Request
from pydantic import Field, TypeAdapter, ValidationError
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access import tokens
from app.attempts import store
from app.attempts.agreement import disagreements, shares_cache, strays
from app.attempts.completeness import lacking
from app.attempts.schemas import BatchIn, BatchOut, BeatOut, FinishIn, StateOut
from app.domain.catalogue import Offer
from app.domain.facts import AnyFact, FinishFact, PreflightFact, RequestFact
from app.domain.status import AttemptState
from app.domain.withheld import REASON, revealed, withhold
from app.errors import Conflict, InvalidInput, Unauthenticated, pointer
from app.operations.meters import Meters
from app.queue import leases
from app.queue.sweeper import Sweeper
from app.runners_registry.service import Registry
from app.storage.database import Database
from app.suites.service import Suites

# Faults of one batch that an answer names.
TOLD = 20
FACTS: TypeAdapter[list[AnyFact]] = TypeAdapter(Annotated[list[AnyFact], Field(max_length=5000)])


class StaleAttempt(Conflict):
    """This attempt is over; nothing that it sends counts any more"""


class OutOfOrder(Conflict):
    """Batches come one after the other"""


class OtherBatch(Conflict):
    """Another batch of this number is there already"""


class Incomplete(Conflict):
    """Something that was measured has not arrived"""


class MalformedFacts(InvalidInput):
    """The facts cannot be read"""


class TextRevealed(InvalidInput):
    """These facts say what nobody may read"""


class OtherRun(InvalidInput):
    """What was found is not what the run asks for"""


class Attempts:
    def __init__(
        self,
        database: Database,
        registry: Registry,
        suites: Suites,
        *,
        lease_seconds: float,
        meters: Meters,
    ) -> None:
        self._database = database
        self._registry = registry
        self._suites = suites
        self._sweeper = Sweeper(database, lease_seconds)
        self.lease_seconds = lease_seconds
        self._meters = meters

    # --- what an attempt may do ---------------------------------------------------------------------------------------------------------

    async def authenticate(self, attempt: int, token: str | None) -> None:
        """Raises Unauthenticated unless this is the token that the lease gave out for this attempt."""
        async with self._database.transaction() as connection:
            expected = await store.token_hash(connection, attempt)
        if token is None or expected is None or not hmac.compare_digest(expected, tokens.digest(token)):
            raise Unauthenticated("Send the token that the lease gave out for this attempt.")

    async def heartbeat(self, attempt: int) -> BeatOut:
        async with self._held(attempt) as (connection, held):
            if held.state == AttemptState.CANCELLED:
                return BeatOut(action="cancel", lease_seconds=self.lease_seconds)
            self._require_live(held)
            await leases.beat(connection, held, self.lease_seconds)
        return BeatOut(action="continue", lease_seconds=self.lease_seconds)

    async def facts(self, attempt: int, batch: BatchIn) -> BatchOut:
        text = batch.facts.encode("utf-8", "surrogatepass")
        if hashlib.sha256(text).hexdigest() != batch.digest:
            raise MalformedFacts("The digest is not that of the facts.", fields=[{"pointer": "/digest", "detail": "not the SHA-256 of /facts"}])
        async with self._held(attempt) as (connection, held):
            self._require_live(held)
            if batch.number < held.batches:
                return await self._repeated(connection, held, batch)
            if batch.number > held.batches:
                raise OutOfOrder(f"Batch {batch.number} came before batch {held.batches}.", expected=held.batches)
            found = await asyncio.to_thread(parse, text)
            await self._require_agreement(connection, held, found)
            await self._require_withheld(connection, held, found)
            if held.state == AttemptState.LEASED:
                await leases.begin(connection, held)
            await store.add(connection, held, batch.number, batch.digest, found)
        self._meters.ingested(sum(isinstance(fact, RequestFact) for fact in found))
        return BatchOut(counted=True)

    async def _require_agreement(self, connection: AsyncConnection, held: leases.Held, facts: Sequence[AnyFact]) -> None:
        """Raises OtherRun, naming the fields, for what is of another model, suite or length than the run's."""
        spec = await store.spec_of(connection, held.run)
        found = [(place, wrong) for place, fact in enumerate(facts) if isinstance(fact, RequestFact) for wrong in strays(fact, spec)]
        for place, fact in enumerate(facts):
            if isinstance(fact, PreflightFact):
                offer, private = await self._measured_with(connection, held)
                found += [(place, wrong) for wrong in disagreements(fact, spec, offer, private=private)]
        wrong = [(f"/facts/{place}/{field}", said) for place, (field, said) in sorted(found, key=itemgetter(0))[:TOLD]]
        if wrong:
            fields = [{"pointer": at, "detail": said} for at, said in wrong]
            raise OtherRun("; ".join(f"{at}: {said}" for at, said in wrong) + ".", fields=fields)

    async def _measured_with(self, connection: AsyncConnection, held: leases.Held) -> tuple[Offer, bool]:
        """What the runner offers, with the run's own suite in place of its suites where one was handed out, and whether that is private."""
        offer, suite = await self._registry.offer_of(connection, held.runner_id), await self._suites.of_run(connection, held.run)
        own = offer if suite is None else offer.model_copy(update={"suites": (suite,)})
        return own, await self._suites.is_private(connection, held.run)

    async def _require_withheld(self, connection: AsyncConnection, held: leases.Held, facts: Sequence[AnyFact]) -> None:
        """Raises TextRevealed for a word of an answer to a private prompt; it is kept nowhere."""
        told = [f"/facts/{place}/{field}" for place, fact in enumerate(facts) for field in revealed(fact)]
        if told and await self._suites.is_private(connection, held.run):
            fields = [{"pointer": at, "detail": "not of a private suite"} for at in told[:TOLD]]
            raise TextRevealed("The suite of this run is private: of answers send digests and counts alone.", fields=fields)

    async def _repeated(self, connection: AsyncConnection, held: leases.Held, batch: BatchIn) -> BatchOut:
        if await store.digest_of(connection, held.attempt, batch.number) != batch.digest:
            raise OtherBatch(f"Batch {batch.number} is there already with other facts.")
        return BatchOut(counted=False)

    async def finish(self, attempt: int, body: FinishIn) -> StateOut:
        """Ends the run as its runner says. The same word twice is one word; another one is refused."""
        async with self._held(attempt) as (connection, held):
            finish = withhold(body.finish) if await self._suites.is_private(connection, held.run) else body.finish
            said = finish.model_dump(mode="json")
            if held.finish is not None:
                if held.finish != said or held.finish_batches != body.batches:
                    raise Conflict(f"Attempt {held.number} of run {held.run} has already finished with another word.")
                return StateOut(run=held.run, state=held.run_state)
            if held.state == AttemptState.CANCELLED and body.finish.outcome == "cancelled":
                return StateOut(run=held.run, state=held.run_state)
            self._require_live(held)
            if body.finish.outcome == "succeeded":
                await self._require_complete(connection, held, body)
            await leases.end(connection, held, AttemptState(body.finish.outcome), said, body.batches, **_ending(finish))
        return StateOut(run=held.run, state=body.finish.outcome)

    async def release(self, attempt: int, reason: str) -> StateOut:
        """Gives the run back at once, as when a runner is told to stop."""
        async with self._held(attempt) as (connection, held):
            self._require_live(held)
            private = await self._suites.is_private(connection, held.run)
            await leases.lose(connection, held, "released", REASON if private else reason)
            after = await leases.hold(connection, attempt)
        assert after is not None
        return StateOut(run=after.run, state=after.run_state)

    # --- fencing ------------------------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _held(self, attempt: int) -> AsyncIterator[tuple[AsyncConnection, leases.Held]]:
        """The attempt, locked. One whose lease ran out is lost first: nobody may write under a lease that is over, swept or not."""
        await self._sweeper.expire(attempt)
        async with self._database.transaction() as connection:
            held = await leases.hold(connection, attempt)
            assert held is not None
            yield connection, held

    @staticmethod
    def _require_live(held: leases.Held) -> None:
        if not held.live:
            action = "cancel" if held.state == AttemptState.CANCELLED else "lost"
            raise StaleAttempt(
                f"Attempt {held.number} of run {held.run} is {held.state}; the run is {held.run_state}, at attempt {held.current}.", action=action
            )

    async def _require_complete(self, connection: AsyncConnection, held: leases.Held, body: FinishIn) -> None:
        if body.batches != held.batches:
            raise Incomplete(f"{body.batches} batches were sent and {held.batches} are here; send batch {held.batches}.", expected=held.batches)
        spec, offer = await store.spec_of(connection, held.run), await self._registry.offer_of(connection, held.runner_id)
        always = any(part.always_drafts for part in offer.on(spec.engine).drafters if part.name == spec.drafter.name)
        asked = await self._suites.asked(connection, held.run, spec, offer.suites)
        seen = await store.seen(connection, held.attempt, always_drafts=always, shares_cache=shares_cache(spec, offer))
        missing = lacking(seen, spec, asked)
        if missing:
            raise Incomplete(f"A run cannot succeed without {', '.join(missing)}.", lacking=missing)


def _ending(finish: FinishFact) -> dict[str, Any]:
    if finish.outcome != "failed":
        return {}
    return {"failure": finish.reason or finish.code, "failure_code": finish.code, "retry_makes_sense": finish.retry_makes_sense}


def parse(text: bytes) -> Sequence[AnyFact]:
    """Facts out of their JSON text. Raises MalformedFacts naming the fact and the field."""
    try:
        found = FACTS.validate_json(text, strict=True)
    except ValidationError as error:
        fields = [
            {"pointer": pointer(["facts", *item["loc"]]), "detail": item["msg"].removeprefix("Value error, ")} for item in error.errors()[:TOLD]
        ]
        raise MalformedFacts(f"{fields[0]['pointer']}: {fields[0]['detail']}", fields=fields) from error
    for place, fact in enumerate(found):
        if isinstance(fact, FinishFact):
            raise MalformedFacts("A finish is no fact of a batch; send it to /finish.", fields=[{"pointer": f"/facts/{place}", "detail": "a finish"}])
    return found


def attempts(request: Request) -> Attempts:
    return cast(Attempts, request.app.state.attempts)
