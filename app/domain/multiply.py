"""A campaign's runs as a product of axes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

MOST_RUNS = 64
# What stands at one place of an axis: values by the path of their field, such as {"sampling.temperature": 0.8}.
Axis = Sequence[Mapping[str, Any]]


def size(axes: Sequence[Axis]) -> int:
    return prod(map(len, axes))


def bodies(shared: Mapping[str, Any], axes: Sequence[Axis]) -> Iterator[dict[str, Any]]:
    """A run's body for every combination, the last axis turning fastest; `shared` is what all have in common."""
    for combination in product(*axes):
        body = dict(shared)
        for place in combination:
            for path, value in place.items():
                _put(body, path, value)
        yield body


def _put(body: dict[str, Any], path: str, value: Any) -> None:
    outer, _, inner = path.partition(".")
    body[outer] = {**body.get(outer, {}), inner: value} if inner else value
