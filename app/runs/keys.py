"""One Idempotency-Key, one submission."""

from typing import Any

from app.domain.spec import RunSpec
from app.errors import InvalidInput, pointer


class KeyReused(InvalidInput):
    """This Idempotency-Key has been used for another run"""


def same(known: tuple[int, dict[str, Any]], spec: RunSpec) -> int:
    """The run that a key made before. Raises KeyReused, naming the fields, where it was asked for something else."""
    run, body = known
    differing = list(_differences(body, spec.model_dump(mode="json")))
    if differing:
        fields = [{"pointer": place, "detail": f"was {was!r}, is {now!r}"} for place, was, now in differing]
        named = ", ".join(place for place, _, _ in differing)
        raise KeyReused(f"Run {run} was submitted under this key with other values of {named}.", fields=fields, run=run)
    return run


def _differences(was: Any, now: Any, path: tuple[object, ...] = ()) -> list[tuple[str, Any, Any]]:
    if isinstance(was, dict) and isinstance(now, dict):
        return [found for key in sorted(was.keys() | now.keys()) for found in _differences(was.get(key), now.get(key), (*path, key))]
    return [] if was == now else [(pointer(path), was, now)]
