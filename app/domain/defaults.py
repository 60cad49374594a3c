"""Parameters that nobody gave are those that the runner falls back on: said in full, two runs that did the same say the same."""

from collections.abc import Sequence

from app.domain.canonical import filled
from app.domain.catalogue import Offer, Part
from app.domain.spec import Choice, RunSpec


def with_defaults(spec: RunSpec, offer: Offer) -> RunSpec:
    """The same run with the parameters of drafter, controller and verifier in full, as this runner would fill them in."""
    offer = offer.on(spec.engine)
    return spec.model_copy(
        update={
            "drafter": _full(spec.drafter, offer.drafters),
            "controller": _full(spec.controller, offer.controllers),
            "verifier": _full(spec.verifier, offer.verifiers),
        }
    )


def _full(choice: Choice, parts: Sequence[Part]) -> Choice:
    schema = next((part.schema_ for part in parts if part.name == choice.name), {})
    return Choice(name=choice.name, params=filled(choice.params, schema))
