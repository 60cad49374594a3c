"""What the registry of runners says to the outside."""

from datetime import datetime
from typing import Literal

from app.domain.catalogue import ITS_LENGTHS, ITS_RULES, Offer, OfferedModel, OfferedSuite, Part, ServedEngine
from app.domain.value import Value


class RunnerOut(Value):
    """`run` or `probe` is what a busy runner is at, unless that belongs to a project of others."""

    name: str
    device: str
    state: Literal["idle", "busy", "offline"]
    last_seen: datetime
    labels: dict[str, str]
    run: int | None = None
    probe: int | None = None
    version: str = ""


class KnownRunner(Value):
    """A runner with its newest offer. One may be `busy` with a run or a probe that the reader may not see."""

    id: int
    name: str
    last_seen: datetime
    live: bool
    busy: bool
    run: int | None
    probe: int | None = None
    offer: Offer


class Catalogue(Value):
    """Everything that live runners offer, merged by name; `runners` lists the others too. All other lists are empty when no runner lives, and
    `max_concurrency`, the most requests at once that one of them serves, is None. `drafters` are those of our own loop; of the other engines each is
    in `served`, with its own."""

    runners: list[RunnerOut]
    models: list[OfferedModel]
    drafters: list[Part]
    controllers: list[Part]
    verifiers: list[Part]
    suites: list[OfferedSuite]
    engines: list[str]
    served: list[ServedEngine] = []
    max_concurrency: int | None = None

    def at(self, engine: str) -> ServedEngine | None:
        """The served engine of this alias; None for our own loop, and for an alias that nobody offers."""
        return next((each for each in self.served if each.name == engine), None)

    def on(self, engine: str) -> "Catalogue":
        """What a run on this engine can choose from (app.domain.catalogue.Offer.on)."""
        found = self.at(engine)
        if found is None:
            return self
        own = {"drafters": list(found.drafters), "models": list(found.of(self.models)), "controllers": list(ITS_LENGTHS)}
        return self.model_copy(update=own | {"verifiers": [part for part in self.verifiers if part.name in ITS_RULES]})
