"""A spec as the address of a form that asks for just that."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from app.domain.catalogue import Part
from app.domain.spec import Choice, RunSpec
from app.runners_registry.schemas import Catalogue
from app.web.order import HOW_LONG, LOAD, SAMPLING, Also, key_of, read

LOCALE = "en"


def address(spec: RunSpec, catalogue: Catalogue) -> str | None:
    """`/submit?…`; None where the form, as runners that are alive have it, cannot say all of the spec: it would measure something else."""
    pairs = list(_pairs(spec, catalogue))
    profiles = [value for name, value in pairs if name == "profiles"]
    order = read(dict(pairs), Also(), profiles, catalogue, LOCALE)
    return f"/submit?{urlencode(pairs)}" if order.specs == (spec,) else None


def _pairs(spec: RunSpec, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """What was left to a default stays so: its field is empty."""
    model = next((m for m in catalogue.models if m.source == spec.model.source and m.name == spec.model.title and m.file == spec.model.file), None)
    catalogue = catalogue.on(spec.engine)
    if len(catalogue.engines) > 1:
        yield "engine", spec.engine
    yield "model", "" if model is None else key_of(model)
    yield "dtype", spec.model.dtype
    for kind, chosen, parts in (
        ("drafter", spec.drafter, catalogue.drafters), ("controller", spec.controller, catalogue.controllers),
        ("verifier", spec.verifier, catalogue.verifiers),
    ):  # fmt: skip
        yield kind, chosen.name
        yield from _params(kind, chosen, parts)
    yield from (("language", spec.language), ("tokenizer", spec.tokenizer), ("suite", spec.suite.id))
    yield from (("profiles", f"{spec.suite.id}/{profile}") for profile in spec.suite.profiles or ())
    yield "limit", _text(spec.suite.limit)
    yield "labels", ", ".join(f"{name}={value}" for name, value in spec.labels.items())
    if spec.compile:
        yield "compile", "true"
    load = spec.load.model_dump() | {"load": spec.load.kind}
    for schema, values in ((LOAD, load), (SAMPLING, spec.sampling.model_dump()), (HOW_LONG, spec.model_dump())):
        yield from ((name, _text(values[name])) for name in schema["properties"])


def _params(kind: str, chosen: Choice, parts: list[Part]) -> Iterator[tuple[str, str]]:
    schema: Mapping[str, Any] = next((part.schema_ for part in parts if part.name == chosen.name), {})
    for name in schema.get("properties", {}):
        yield f"{kind}.{chosen.name}.{name}", _text(chosen.params.get(name))


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return " ".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
