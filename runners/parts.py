"""The parts that a run is put together from, found by folder."""

import difflib
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from app.discovery import subclasses_of
from app.domain.catalogue import Part
from app.domain.fit import misfits
from app.domain.spec import Choice, ModelSource, RunSpec
from runners.controllers.base import Controller
from runners.drafters.base import Drafter, Memory
from runners.engine.companion import Companion
from runners.engine.dice import Chance
from runners.engine.law import Law
from runners.engine.target import Target
from runners.verifiers.base import Verifier

# What a drafter's offer says of it beside its parameters.
OF_A_DRAFTER = ("memory", "always_drafts", "knows_confidence", "branches", "trees", "opens", "slices", "routes", "shares_cache")


class UnknownPart(ValueError):
    """The spec names a part that this runner does not have, or gives it parameters that it does not take."""


def drafters() -> dict[str, type[Drafter]]:
    return subclasses_of("runners.drafters", Drafter)  # type: ignore[type-abstract]


def controllers() -> dict[str, type[Controller]]:
    return subclasses_of("runners.controllers", Controller)  # type: ignore[type-abstract]


def verifiers() -> dict[str, type[Verifier]]:
    return subclasses_of("runners.verifiers", Verifier)  # type: ignore[type-abstract]


def _choose(kind: str, found: dict[str, Any], choice: Choice) -> tuple[Any, Any]:
    """The class that a choice names and its validated parameters."""
    if choice.name not in found:
        near = difflib.get_close_matches(choice.name, found, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UnknownPart(f'There is no {kind} "{choice.name}".{hint}')
    part = found[choice.name]
    try:
        return part, part.Params.model_validate(choice.params)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'parameters'}: {e['msg']}" for e in error.errors(include_url=False))
        raise UnknownPart(f"{kind} {choice.name}: {wrong}") from error


@dataclass(frozen=True)
class Chosen:
    """The parts of one run's speculative arm, checked but not yet bound to a target."""

    drafter: type[Drafter]
    drafter_params: Any
    controller: type[Controller]
    controller_params: Any
    verifier: Verifier
    law: Law
    companion: Companion | None = None

    @property
    def wants(self) -> ModelSource | None:
        """The drafter's own model, by its source."""
        return self.drafter.wants(self.drafter_params)

    @property
    def memory(self) -> Memory:
        return self.drafter.remembers(self.drafter_params)

    def bind(self, target: Target, chance: Chance) -> Drafter:
        """Raises UnfitDrafter when the parameters do not fit the target."""
        beside: dict[str, Any] = {} if self.companion is None else {"companion": self.companion}
        return self.drafter(self.drafter_params, target, chance, **beside)

    def control(self) -> Controller:
        return self.controller(self.controller_params)

    @property
    def columns(self) -> int:
        """Entries of a slot's cache that a round may write behind the last committed token."""
        return self.drafter.columns(self.drafter_params, self.control().longest)

    @property
    def source(self) -> type[Drafter]:
        """The drafter that the tokens come from; a tree grows over another one."""
        return self.drafter.source(self.drafter_params)


def choose(spec: RunSpec) -> Chosen:
    drafter, drafter_params = _choose("drafter", drafters(), spec.drafter)
    controller, controller_params = _choose("controller", controllers(), spec.controller)
    verifier, verifier_params = _choose("verifier", verifiers(), spec.verifier)
    law = Law(spec.sampling.temperature, spec.sampling.top_k, spec.sampling.top_p)
    if verifier.greedy and not law.greedy:
        raise UnknownPart(f"verifier {verifier.name} checks greedy decoding only; set sampling.temperature to 0 or choose rejection")
    for _, said in misfits(spec, drafter, controller, verifier):
        raise UnknownPart(said)
    return Chosen(drafter, drafter_params, controller, controller_params, verifier(verifier_params), law)


def offered() -> dict[str, tuple[Part, ...]]:
    """The parts as a runner publishes them."""

    def part(found: Any, **more: Any) -> Part:
        return Part(name=found.name, summary=found.summary, schema=found.Params.model_json_schema(), **more)

    return {
        "drafters": tuple(part(d, **{name: getattr(d, name) for name in OF_A_DRAFTER}) for d in drafters().values()),
        "controllers": tuple(part(c, stops_drafts=c.stops_drafts) for c in controllers().values()),
        "verifiers": tuple(part(v, lossless=v.lossless, trees=v.trees) for v in verifiers().values()),
    }
