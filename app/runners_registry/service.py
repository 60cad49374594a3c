"""Which runners there are and what they can do."""

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from fastapi import Request
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from app.access.principal import Principal
from app.access.seen import Seen, Who, narrowed
from app.domain.catalogue import HandedSuite, Offer, OfferedModel, OfferedSuite
from app.domain.probe import ProbeSpec
from app.domain.spec import OWN_ENGINE, ModelSource, RunSpec
from app.errors import Conflict, InvalidInput, NotFound, did_you_mean
from app.queue.labels import bench_of
from app.runners_registry import doomed, foreseen, protocol, quota, store
from app.runners_registry.anatomy import Anatomy, anatomy_of
from app.runners_registry.fitting import NO_OFFER, alike, clash, labelled, lacking, merged, problems, resolved, serves, with_suites
from app.runners_registry.foreseen import NobodyOffers
from app.runners_registry.schemas import Catalogue, KnownRunner, RunnerOut
from app.storage.database import Database
from app.storage.view import View
from app.suites.service import Suites
from app.suites.shipped import shipped


class NotOffered(InvalidInput):
    """No runner can measure this"""


class NoSuchSuite(NotFound):
    """There is no such suite"""


class Registry(Seen):
    def __init__(self, database: Database, suites: Suites, *, tokens_per_run: int) -> None:
        self._database = database
        self._tokens_per_run = tokens_per_run
        self._suites = suites

    async def publish(self, principal: Principal, offer: Offer) -> None:
        """Raises OtherProtocol."""
        protocol.require(offer.protocol)
        if principal.token is None:
            raise Conflict("A runner needs a token of its own.")
        async with self._database.transaction() as connection:
            await store.publish(connection, principal.token, principal.name, offer)

    async def known(self) -> list[KnownRunner]:
        """Runners with what they offer; each has the suites that are stored here, since prompts come with the lease."""
        async with self._database.transaction() as connection:
            return await self._known(connection, self.view)

    async def _known(self, connection: AsyncConnection, view: View) -> list[KnownRunner]:
        stored = await self._suites.offered(connection, view)
        found = await store.known(connection, view)
        return [runner.model_copy(update={"offer": with_suites(runner.offer, stored)}) for runner in found]

    async def lock(self, connection: AsyncConnection, token: int) -> Row[Any] | None:
        """The runner of this token, locked in the caller's transaction; None when it has never published an offer."""
        return await store.lock(connection, token)

    async def offer_of(self, connection: AsyncConnection, runner: int) -> Offer:
        return await store.offer_of(connection, runner)

    async def anatomy(self, connection: AsyncConnection, view: View, model: ModelSource, digest: str | None = None) -> Anatomy:
        """What offers of this model, and runs of it or of the weights of this digest, tell of its layers."""
        offers = [runner.offer for runner in await store.known(connection, view)]
        return anatomy_of(model, offers, await store.layers_of(connection, view, model, digest))

    async def check(self, spec: RunSpec, project: str) -> RunSpec:
        """The run as it will be measured: with the parameters in full that a runner, one that lives if there is, falls back on.

        Raises NobodyOffers when no runner was ever seen and nothing is wrong as far as can be told without one, NotOffered naming the fields that no
        runner has an answer for, WrongSelection where a suite that is known here has no prompts for it, CouldOnlyFail, OverQuota."""
        async with self._database.transaction() as connection:
            runners = sorted(await self._known(connection, View(project)), key=lambda runner: not runner.live)
            offers = [runner.offer for runner in runners]
            if not offers:
                await self._refuse_alone(connection, spec, project)
            found = problems(spec, offers)
            if found:
                raise NotOffered(" ".join(_sentence(field) for field in found), fields=found)
            prompts = await self._suites.check(connection, spec, project, [suite for offer in offers for suite in offer.suites])
            layers = await store.layers(connection, View(project), spec.model)
        full = resolved(spec, offers)
        foreseen.require(full, prompts, layers, [offer for offer in offers if serves(spec, offer)])
        quota.require(spec, _suites(offers, offers), self._tokens_per_run)
        return full

    async def _refuse_alone(self, connection: AsyncConnection, spec: RunSpec, project: str) -> NoReturn:
        """What is known of suites without a runner are those that were uploaded, and those that come with this installation."""
        own = [suite.offered() for suite in shipped().values()]
        prompts = await self._suites.check(connection, spec, project, own)
        quota.require(spec, [*await self._suites.offered(connection, View(project)), *own], self._tokens_per_run)
        foreseen.refuse_alone(spec, prompts)

    async def check_probe(self, spec: ProbeSpec, project: str) -> None:
        """Raises NobodyOffers, NotOffered naming the fields that no runner has an answer for, and ProbeCouldOnlyFail."""
        async with self._database.transaction() as connection:
            offers = [runner.offer for runner in await store.known(connection, View(project))]
            model = await self.anatomy(connection, View(project), spec.model)
        if not offers:
            doomed.require(spec, model, ())
            raise NobodyOffers(NO_OFFER)
        found = lacking(spec, offers)
        if found:
            raise NotOffered(" ".join(_sentence(field) for field in found), fields=found)
        doomed.require(spec, model, offers)

    async def groups(self, specs: Sequence[RunSpec]) -> list[RunSpec]:
        """Those of `specs` for which some runner can measure all that share their bench."""
        offers = [runner.offer for runner in await self.known()]
        by_bench: dict[str, list[RunSpec]] = {}
        for spec in specs:
            by_bench.setdefault(bench_of(spec), []).append(spec)
        able = [group for group in by_bench.values() if any(all(serves(spec, offer) and labelled(spec, offer) for spec in group) for offer in offers)]
        return [spec for group in able for spec in group]

    async def catalogue(self) -> Catalogue:
        runners = await self.known()
        offers = [runner.offer for runner in runners if runner.live]
        return Catalogue(
            runners=[shown(runner) for runner in runners],
            models=_models(offers),
            drafters=merged(part for offer in offers for part in offer.drafters),
            controllers=merged(part for offer in offers for part in offer.controllers),
            verifiers=merged(part for offer in offers for part in offer.verifiers),
            suites=_suites(offers, [runner.offer for runner in runners]),
            engines=sorted({name for offer in offers for name in offer.engines}, key=lambda name: (name != OWN_ENGINE, name)),
            served=alike(engine for offer in offers for engine in offer.served),
            max_concurrency=max((offer.max_concurrency for offer in offers), default=None),
        )

    async def suites(self, id: str) -> list[OfferedSuite]:
        """Those of this id, which is one unless runners differ."""
        return [suite for suite in await self._offered() if suite.id == id]

    async def suite(self, id: str) -> OfferedSuite:
        offered = await self._offered()
        for suite in offered:
            if suite.id == id:
                return suite
        raise NoSuchSuite(did_you_mean("suite", id, (suite.id for suite in offered)))

    async def _offered(self) -> list[OfferedSuite]:
        offers = [runner.offer for runner in await self.known()]
        return _suites(offers, offers)


def why_waits(spec: RunSpec, runners: Sequence[KnownRunner]) -> str | None:
    """Why a queued run is not being measured, when it is more than the line before it."""
    able = [runner for runner in runners if serves(spec, runner.offer)]
    if not able and clash(spec.suite.id, (runner.offer for runner in runners)):
        return "A runner has other prompts under the name of this uploaded suite. The run waits; cancel it, and upload the suite under another name."
    if not able:
        return "No runner offers this model. The run waits; `bezmen runner` starts one."
    fitting = [runner for runner in able if labelled(spec, runner.offer)]
    if not fitting:
        wanted = ", ".join(f"{name}={value}" for name, value in sorted(spec.wanted_labels.items()))
        return f"No runner with the labels {wanted} is known. The run waits."
    if not any(runner.live for runner in fitting):
        return "The runner that can measure this is offline. The run waits; `bezmen runner` starts one."
    if all(runner.busy for runner in fitting if runner.live):
        return "The runner is busy with a probe." if any(runner.probe for runner in fitting) else "The runner is busy with another run."
    return None


def _sentence(field: dict[str, str]) -> str:
    detail = field["detail"]
    if detail.startswith("There is no "):
        return detail
    return f"{field['pointer']} {detail}." if field["pointer"] else f"{detail[0].upper()}{detail[1:]}."


def shown(runner: KnownRunner) -> RunnerOut:
    """A runner as others see it."""
    state = "offline" if not runner.live else "busy" if runner.busy else "idle"
    offer = runner.offer
    return RunnerOut(
        name=runner.name,
        device=offer.device,
        state=state,
        last_seen=runner.last_seen,
        labels=offer.labels,
        run=runner.run,
        probe=runner.probe,
        version=offer.version,
    )


def _models(offers: Iterable[Offer]) -> list[OfferedModel]:
    return list({(model.source, model.name, model.file): model for offer in offers for model in offer.models}.values())


def _suites(offers: Iterable[Offer], all: Sequence[Offer]) -> list[OfferedSuite]:
    """What these offer, without what is handed under the id of other prompts that a runner of `all` has: those stand."""
    offered = [suite for offer in offers for suite in offer.suites]
    hidden = {suite.id for suite in offered if clash(suite.id, all)}
    return list({suite.digest: suite for suite in offered if suite.id not in hidden or not isinstance(suite, HandedSuite)}.values())


def registry_service(request: Request, who: Who) -> Registry:
    return narrowed(request, Registry, who)
