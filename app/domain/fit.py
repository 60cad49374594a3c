"""Which drafters, controllers and verifiers go together. A runner holds the parts that it has to these rules, and the service those of its offer."""

from collections.abc import Iterator
from typing import Protocol

from app.domain.catalogue import ITS_LENGTHS, ITS_RULES
from app.domain.spec import OWN_ENGINE, RunSpec

# Where in the spec, and what is wrong there.
Wrong = tuple[str, str]


class Drafts(Protocol):
    """What a drafter says of itself (runners.drafters.base)."""

    @property
    def name(self) -> str: ...
    @property
    def trees(self) -> bool: ...
    @property
    def opens(self) -> bool: ...
    @property
    def slices(self) -> bool: ...
    @property
    def routes(self) -> bool: ...
    @property
    def knows_confidence(self) -> bool: ...


class Decides(Protocol):
    """What a controller says of itself (runners.controllers.base)."""

    @property
    def name(self) -> str: ...
    @property
    def stops_drafts(self) -> bool: ...


class Judges(Protocol):
    """What a verifier says of itself (runners.verifiers.base)."""

    @property
    def name(self) -> str: ...
    @property
    def trees(self) -> bool: ...


def misfits(spec: RunSpec, drafter: Drafts, controller: Decides, verifier: Judges) -> Iterator[Wrong]:
    """Everything that keeps these parts of `spec` from working together."""
    if controller.stops_drafts and not drafter.knows_confidence:
        said = f"controller {controller.name} ends drafts by the drafter's own probability, and {drafter.name} has none; choose another controller"
        yield "/controller/name", said
    if drafter.trees and not verifier.trees:
        yield "/verifier/name", f"verifier {verifier.name} judges chains, and {drafter.name} drafts trees; choose exact or rejection"
    if spec.compile:
        yield from (("/compile", f"{drafter.name} {why}; leave compile out") for why in _uncompiled(drafter))


def _uncompiled(drafter: Drafts) -> Iterator[str]:
    if drafter.trees:
        yield "drafts trees, whose forwards are not compiled"
    if drafter.opens:
        yield "looks between layers, which a compiled forward does not show"
    if drafter.slices:
        yield "drafts over a slice of the cache, whose forwards are not compiled"
    if drafter.routes:
        yield "chooses among experts, which a compiled forward does not let it do"


def beyond(spec: RunSpec) -> Iterator[Wrong]:
    """What a served engine cannot be asked for: it decides how long its drafts are, checks them by its own rule, and draws from the whole
    distribution. Nothing of a run on our own loop."""
    if spec.engine == OWN_ENGINE:
        return
    if spec.controller.name not in {part.name for part in ITS_LENGTHS} or spec.controller.params:
        yield "/controller/name", f"engine {spec.engine} decides itself how long its drafts are; leave the controller out"
    rule = "rejection" if spec.sampling.temperature > 0 else "exact"
    if spec.verifier.name != rule or spec.verifier.params:
        assert rule in ITS_RULES
        yield "/verifier/name", f"engine {spec.engine} checks drafts by its own rule; choose exact at temperature 0 and rejection above it"
    if spec.sampling.temperature > 0:
        for name in ("top_k", "top_p"):
            if getattr(spec.sampling, name) is not None:
                yield f"/sampling/{name}", f"engine {spec.engine} is asked to draw from the whole distribution; leave {name} out"


def compiled_alone(drafter: str) -> str:
    """What is said of compiled forwards beside a model that the drafter brings."""
    return f"Compiled forwards are the target's alone, and {drafter} has a model of its own; leave compile out."


def no_tree_over(name: str, close: str | None, names: list[str]) -> str:
    """What is said of a drafter that no tree can grow over; `names` are those that one can."""
    hint = f"Did you mean {close}?" if close else f"These do: {', '.join(sorted(names))}."
    return f'there is no drafter "{name}" that a tree can grow over. {hint}'
