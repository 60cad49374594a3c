"""Runs as a product: every drafter in every language under every load, and so on."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from app.domain.catalogue import ITS_LENGTHS
from app.domain.language import Language
from app.domain.multiply import MOST_RUNS, Axis, bodies, size
from app.domain.spec import OWN_ENGINE, Choice, Load, Name, RunSpec
from app.domain.value import Value

SAMPLED = "rejection"


class Drafting(Value):
    """A drafter, the controller of its draft length where the runs' common one does not suit it, and the engine that it runs on where that is not
    the common one. A served engine decides the lengths of its drafts itself, so that no common controller is asked of it."""

    drafter: Choice
    controller: Choice | None = None
    engine: Name | None = None

    def place(self) -> dict[str, Any]:
        """What stands for it in a run."""
        own = {name: part.model_dump() for name in ("drafter", "controller") if (part := getattr(self, name)) is not None}
        if self.engine is None:
            return own
        return ({} if self.engine == OWN_ENGINE else {"controller": ITS_LENGTHS[0].name}) | own | {"engine": self.engine}


class Product(Value):
    """`each` holds what all runs have in common, a run without the fields that are multiplied. An axis that is left out multiplies nothing.

    Runs at a temperature above 0 are checked by `rejection` where `each` names no verifier.
    """

    each: dict[str, JsonValue] = Field(default_factory=dict)
    drafters: Annotated[tuple[Drafting, ...], Field(min_length=1, max_length=MOST_RUNS)]
    languages: Annotated[tuple[Language, ...], Field(min_length=1, max_length=MOST_RUNS)]
    loads: Annotated[tuple[Load, ...], Field(min_length=1, max_length=MOST_RUNS)] | None = None
    dtypes: Annotated[tuple[str, ...], Field(min_length=1, max_length=4)] | None = None
    temperatures: Annotated[tuple[float, ...], Field(min_length=1, max_length=MOST_RUNS)] | None = None
    max_new_tokens: Annotated[tuple[int, ...], Field(min_length=1, max_length=MOST_RUNS)] | None = None

    @model_validator(mode="after")
    def _fields_are_said_once(self) -> Self:
        for outer in ("model", "sampling"):
            if not isinstance(self.each.get(outer, {}), dict):
                raise ValueError(f"each.{outer} is an object of fields, as a run has it")
        multiplied = dict.fromkeys(path for axis in self._axes() for place in axis for path in place if path not in ("controller", "engine"))
        twice = [path for path in multiplied if _holds(self.each, path)]
        if twice:
            raise ValueError(f"{', '.join(twice)} stands in each and is multiplied too; say it in one place")
        if (runs := size(self._axes())) > MOST_RUNS:
            raise ValueError(f"this product has {runs} runs; a campaign has {MOST_RUNS} at most")
        return self

    def specs(self) -> tuple[RunSpec, ...]:
        """Runs of one language, load and so on stand next to each other: they share a plain arm. Raises ValidationError naming a run's field."""
        return tuple(RunSpec.model_validate(_verified(body)) for body in bodies(self.each, self._axes()))

    def _axes(self) -> list[Axis]:
        loads = None if self.loads is None else tuple(load.model_dump() for load in self.loads)
        named = (
            ("language", self.languages), ("load", loads), ("model.dtype", self.dtypes), ("sampling.temperature", self.temperatures),
            ("max_new_tokens", self.max_new_tokens),
        )  # fmt: skip
        drafters = [drafting.place() for drafting in self.drafters]
        return [*([{path: value} for value in values] for path, values in named if values is not None), drafters]


def specs_of(found: Product) -> tuple[RunSpec, ...]:
    """The runs of a product; a wrong one is a ValueError that names its field, as pydantic wants it from a validator."""
    try:
        return found.specs()
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"a run of this product is wrong at {'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}") from error


def _holds(body: Mapping[str, Any], path: str) -> bool:
    outer, _, inner = path.partition(".")
    return outer in body and (not inner or (isinstance(body[outer], Mapping) and inner in body[outer]))


def _verified(body: dict[str, Any]) -> dict[str, Any]:
    sampling = body.get("sampling")
    warm = isinstance(sampling, Mapping) and sampling.get("temperature")
    return {"verifier": {"name": SAMPLED}} | body if warm else body
