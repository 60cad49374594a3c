"""What a runner says it can do; the submit form is drawn from it and a run is refused against it."""

import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from app.domain.bounds import Digest
from app.domain.spec import Dtype, Name, Source
from app.domain.value import Value

_KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "title", "description", "default", "enum", "const",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "items", "minItems", "maxItems", "anyOf",
}  # fmt: skip


def _check(node: object, depth: int, *, names: bool = False) -> None:
    if depth > 8:
        raise ValueError("a parameter schema may be 4 levels deep")
    if isinstance(node, dict):
        for key, child in node.items():
            if not names and key not in _KEYWORDS:
                raise ValueError(f"a parameter schema may not use {key}")
            _check(child, depth + 1, names=key == "properties" and not names)
    elif isinstance(node, list):
        for child in node:
            _check(child, depth + 1)


def small_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself when it stays inside the small subset of JSON Schema that may come from a runner; raises ValueError otherwise."""
    _check(schema, 0)
    if len(json.dumps(schema, allow_nan=False)) > 64 * 1024:
        raise ValueError("a parameter schema may take 64 KiB")
    return schema


class Part(Value):
    """A drafter, controller or verifier that a runner has, with the JSON schema of its parameters. `always_drafts`: a whole arm without a draft is
    a failure of it, and not what the text gave. The words from `knows_confidence` on are those of runners.drafters.base and controllers.base; which
    parts go together follows from them (app.domain.fit). `shares_cache`: it drafts with the target's own layers; None where a runner does not say."""

    name: Name
    summary: Annotated[str, Field(max_length=400)] = ""
    schema_: Annotated[dict[str, Any], AfterValidator(small_schema)] = Field(default_factory=dict, alias="schema", serialization_alias="schema")
    lossless: bool | None = None
    memory: Literal["request", "process"] | None = None
    always_drafts: bool = False
    knows_confidence: bool = False
    branches: bool = False
    trees: bool = False
    opens: bool = False
    slices: bool = False
    routes: bool = False
    stops_drafts: bool = False
    shares_cache: bool | None = None


class OfferedModel(Value):
    """A model on the runner's allowlist; a spec must name it by the same source fields. `layers` are those of its configuration, None where none lies
    there to be read; `without_attention` is the share of a plain step that is left of a hybrid without its attention, None where `layers` are known
    and the model is no hybrid. `aliases` are other names of its tokenizer."""

    source: Source
    name: Annotated[str, Field(min_length=1, max_length=256)]
    file: Annotated[str, Field(max_length=256)] | None = None
    revision: Annotated[str, Field(max_length=256)] | None = None
    tokenizer: Annotated[str, Field(min_length=1, max_length=256)]
    aliases: Annotated[tuple[Annotated[str, Field(max_length=256)], ...], Field(max_length=16)] = ()
    licence: Annotated[str, Field(max_length=256)] | None = None
    chat_template: bool = True
    dtypes: tuple[Dtype, ...] = ("auto", "float32")
    layers: Annotated[int, Field(ge=1, le=4096)] | None = None
    without_attention: Annotated[float, Field(gt=0, lt=1)] | None = None


class OfferedSuite(Value):
    id: Name
    version: Annotated[str, Field(max_length=32)]
    digest: Digest
    languages: Annotated[tuple[str, ...], Field(max_length=64)]
    profiles: Annotated[tuple[Name, ...], Field(max_length=64)]
    prompts: Annotated[int, Field(ge=1)]


class HandedSuite(OfferedSuite):
    """One whose prompts come with the lease: uploaded, and no runner's own."""


# Of a served engine: the lengths of drafts are its own affair, and drafts are checked by its own rule, which goes under these names.
ITS_LENGTHS = (Part(name="constant"),)
ITS_RULES = frozenset({"exact", "rejection"})
# All types but the one that a runner chooses.
SAID: tuple[Dtype, ...] = tuple(dtype for dtype in get_args(Dtype) if dtype != "auto")


class ServedEngine(Value):
    """An engine beside our own loop, under the alias by which a spec names it. `drafters` are its own ways to speculate; `models` the names of those
    offered models that it can serve, as `source:name`. `starts`: the runner starts both arms itself; one that is only attached to may lack the plain
    arm (`plain`), and then there is acceptance and no speed-up. `observed`: its adapter has been run against the real engine."""

    name: Name
    kind: Annotated[str, Field(max_length=64)]
    drafters: Annotated[tuple[Part, ...], Field(max_length=32)]
    models: Annotated[tuple[Annotated[str, Field(max_length=300)], ...], Field(max_length=256)]
    starts: bool
    plain: bool = True
    observed: bool = False

    def of(self, models: Iterable[OfferedModel]) -> tuple[OfferedModel, ...]:
        """Those of these that it serves. What a server that runs already computes in is for whoever asks to say; the types of our own loop are not
        its own."""
        found = [model for model in models if f"{model.source}:{model.name}" in self.models]
        return tuple(found if self.starts else (model.model_copy(update={"dtypes": SAID}) for model in found))


class Offer(Value):
    """Everything that one runner can do, published when it starts. `compiles`: it has what compiled forwards need. `auto_dtype`: what the weights'
    type `auto` is on its device, None where it does not say. `engines` are our own loop and the names of those in `served`, whose drafters are not
    among `drafters`.

    `protocol` is what it speaks: app/domain/protocol.py."""

    engines: Annotated[tuple[Name, ...], Field(max_length=32)]
    models: Annotated[tuple[OfferedModel, ...], Field(max_length=256)]
    drafters: Annotated[tuple[Part, ...], Field(max_length=64)]
    controllers: Annotated[tuple[Part, ...], Field(max_length=64)]
    verifiers: Annotated[tuple[Part, ...], Field(max_length=64)]
    suites: Annotated[tuple[OfferedSuite, ...], Field(max_length=256)]
    served: Annotated[tuple[ServedEngine, ...], Field(max_length=32)] = ()
    auto_dtype: Dtype | None = None
    compiles: bool = False
    max_concurrency: Annotated[int, Field(ge=1, le=256)] = 1
    device: Annotated[str, Field(max_length=256)]
    labels: Annotated[dict[Name, Annotated[str, Field(max_length=64)]], Field(max_length=16)] = Field(default_factory=dict)
    version: Annotated[str, Field(max_length=64)]
    protocol: Annotated[int, Field(ge=0, le=10**6)] = 1

    def at(self, engine: str) -> ServedEngine | None:
        """The served engine of this alias; None for our own loop, and for an alias that is not offered."""
        return next((each for each in self.served if each.name == engine), None)

    def on(self, engine: str) -> "Offer":
        """What of this offer holds for a run on one of its engines: all of it on our own, which is nobody else's. Of a served engine its own drafters
        and the models that it serves; what the weights' type `auto` is there nobody says beforehand."""
        found = self.at(engine)
        if found is None:
            return self
        own = {"drafters": found.drafters, "models": found.of(self.models), "controllers": ITS_LENGTHS}
        rules = tuple(part for part in self.verifiers if part.name in ITS_RULES)
        return self.model_copy(update=own | {"verifiers": rules, "auto_dtype": None, "compiles": False})
