"""What an offer tells of a run that its runner cannot measure: parts that do not go together, and parameters that none of them takes."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from app.domain.catalogue import Offer, Part
from app.domain.drafting import OF, SETTINGS, asked_model, crossed, settings, uneven
from app.domain.fit import Wrong, compiled_alone, misfits, no_tree_over
from app.domain.spec import OWN_ENGINE, RunSpec
from app.errors import did_you_mean, pointer
from app.runners_registry.parameters import faults

EXIT = "exit_layer"


def unfit(spec: RunSpec, offer: Offer, layers: int | None) -> Iterator[Wrong]:
    """Nothing for a part that the offer does not have. `layers` are the target's, None where they are not known."""
    offer = offer.on(spec.engine)
    drafter, controller, verifier = (
        next((part for part in parts if part.name == choice.name), None)
        for parts, choice in ((offer.drafters, spec.drafter), (offer.controllers, spec.controller), (offer.verifiers, spec.verifier))
    )
    if drafter is None or controller is None or verifier is None:
        return
    yield from misfits(spec, drafter, controller, verifier)
    yield from at_odds(spec)
    yield from _under_a_tree(spec, drafter, offer, layers)
    yield from _own_model(spec, offer)


def at_odds(spec: RunSpec) -> Iterator[Wrong]:
    """Parameters that contradict each other, or the rest of the run, whoever would measure it."""
    for kind, params in (("drafter", spec.drafter.params), ("controller", spec.controller.params)):
        if (wrong := crossed(params)) is not None:
            yield f"/{kind}/params/{wrong.split()[0]}", wrong
    if (wrong := uneven(spec.drafter.params)) is not None:
        yield "/drafter/params/rates", wrong
    of, text = spec.drafter.params.get(OF), spec.drafter.params.get(SETTINGS)
    if isinstance(of, str) and isinstance(text, str):
        try:
            settings(text)
        except ValueError as error:
            yield f"/drafter/params/{SETTINGS}", str(error)
    if (asked := asked_model(spec.drafter)) is not None:
        if spec.compile:
            yield "/compile", compiled_alone(spec.drafter.name)
        if _is_target(spec, asked):
            yield _place_of_model(spec), "The drafter's model is the target itself, which would keep every draft; choose a smaller one."


def _under_a_tree(spec: RunSpec, drafter: Part, offer: Offer, layers: int | None) -> Iterator[Wrong]:
    of, text = spec.drafter.params.get(OF), spec.drafter.params.get(SETTINGS)
    able = {part.name: part for part in offer.drafters if part.branches}
    if not drafter.trees or not able or not isinstance(of, str) or not isinstance(text, str):
        return
    if of not in able:
        close = difflib.get_close_matches(of, able, n=1)
        yield f"/drafter/params/{OF}", no_tree_over(of, close[0] if close else None, list(able))
        return
    at = f"/drafter/params/{SETTINGS}"
    try:
        params = _typed(settings(text), able[of].schema_)
    except ValueError:
        return
    for path, wrong in faults(able[of].schema_, params):
        yield at, f"settings of {of}: {pointer(path).lstrip('/')} {wrong}"
    yield from exits_late(params.get(EXIT), layers, at)


def _typed(given: Mapping[str, str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Texts as the numbers and truths that the schema asks for; what cannot be read as one stays a text, and is a fault."""
    return {name: _read(text, schema.get("properties", {}).get(name, {}).get("type")) for name, text in given.items()}


def _read(text: str, kind: object) -> object:
    try:
        if kind in ("integer", "number"):
            return int(text) if kind == "integer" else float(text)
    except ValueError:
        return text
    return text == "true" if kind == "boolean" and text in ("true", "false") else text


def exits_late(layer: object, layers: int | None, at: str) -> Iterator[Wrong]:
    """For a draft that leaves the target behind its last layer."""
    if layers is not None and isinstance(layer, int) and layer >= layers:
        yield at, f"The model has {layers} layers, and a draft that leaves after layer {layer} skips none of them; choose 1 to {layers - 1}."


def _own_model(spec: RunSpec, offer: Offer) -> Iterator[Wrong]:
    asked = asked_model(spec.drafter)
    known = {f"{model.source}:{model.name}" for model in offer.models}
    if asked is not None and not _is_target(spec, asked) and (named := _named(asked)[0]) not in known:
        yield _place_of_model(spec), did_you_mean("model", named, known)


def _is_target(spec: RunSpec, asked: str) -> bool:
    return spec.engine == OWN_ENGINE and _named(asked) == (f"{spec.model.source}:{spec.model.title}", spec.model.file)


def _named(asked: str) -> tuple[str, str | None]:
    """The name of a drafter's model without its revision, and its file."""
    named, _, file = asked.partition("#")
    return named.partition("@")[0] if named.startswith("hub:") else named, file or None


def _place_of_model(spec: RunSpec) -> str:
    return "/drafter/params/" + (SETTINGS if OF in spec.drafter.params else "model")
