"""Runs as a product: every drafter in every language under every load, and so on."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, Any, Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from app.domain.language import Language
from app.domain.spec import Choice, Load, RunSpec
from app.domain.value import Value

MOST = 64
EXACT, SAMPLED = "exact", "rejection"


class Drafting(Value):
    """A drafter, and the controller of its draft length where the runs' common one does not suit it."""

    drafter: Choice
    controller: Choice | None = None


class Product(Value):
    """`each` holds what all runs have in common, a run without the fields that are multiplied. An axis that is left out multiplies nothing.

    Runs at a temperature above 0 are checked by `rejection` where `each` names no verifier.
    """

    each: dict[str, JsonValue] = Field(default_factory=dict)
    drafters: Annotated[tuple[Drafting, ...], Field(min_length=1, max_length=MOST)]
    languages: Annotated[tuple[Language, ...], Field(min_length=1, max_length=MOST)]
    loads: Annotated[tuple[Load, ...], Field(min_length=1, max_length=MOST)] | None = None
    dtypes: Annotated[tuple[str, ...], Field(min_length=1, max_length=4)] | None = None
    temperatures: Annotated[tuple[float, ...], Field(min_length=1, max_length=MOST)] | None = None
    max_new_tokens: Annotated[tuple[int, ...], Field(min_length=1, max_length=MOST)] | None = None

    @model_validator(mode="after")
    def _fields_are_said_once(self) -> Self:
        for outer in ("model", "sampling"):
            if not isinstance(self.each.get(outer, {}), dict):
                raise ValueError(f"each.{outer} is an object of fields, as a run has it")
        multiplied = ["drafter", "language", *(name for name, axis in self._axes().items() if axis is not None)]
        twice = [name for name in multiplied if _holds(self.each, name)]
        if twice:
            raise ValueError(f"{', '.join(twice)} stands in each and is multiplied too; say it in one place")
        size = len(self.drafters) * len(self.languages)
        for axis in self._axes().values():
            size *= len(axis or (None,))
        if size > MOST:
            raise ValueError(f"this product has {size} runs; a campaign has {MOST} at most")
        return self

    def specs(self) -> tuple[RunSpec, ...]:
        """Runs of one language, load and so on stand next to each other: they share a plain arm. Raises ValidationError naming a run's field."""
        return tuple(RunSpec.model_validate(body) for body in self._bodies())

    def _bodies(self) -> Iterator[dict[str, Any]]:
        axes = self._axes()
        for language, *values in product(self.languages, *(axis or (None,) for axis in axes.values())):
            shared: dict[str, Any] = dict(self.each) | {"language": language}
            for name, value in zip(axes, values, strict=True):
                if value is not None:
                    _put(shared, name, value)
            sampling = shared.get("sampling")
            if isinstance(sampling, Mapping) and sampling.get("temperature") and "verifier" not in shared:
                shared["verifier"] = {"name": SAMPLED}
            for drafting in self.drafters:
                own = {"drafter": drafting.drafter.model_dump()}
                yield shared | own | ({"controller": drafting.controller.model_dump()} if drafting.controller else {})

    def _axes(self) -> dict[str, tuple[Any, ...] | None]:
        """By the path of the field that each multiplies."""
        loads = None if self.loads is None else tuple(load.model_dump() for load in self.loads)
        return {"load": loads, "model.dtype": self.dtypes, "sampling.temperature": self.temperatures, "max_new_tokens": self.max_new_tokens}


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


def _put(body: dict[str, Any], path: str, value: Any) -> None:
    outer, _, inner = path.partition(".")
    body[outer] = {**body.get(outer, {}), inner: value} if inner else value
