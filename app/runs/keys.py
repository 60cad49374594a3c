"""One Idempotency-Key, one request: what it made is its answer from then on, and any other request under it is refused."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from app.domain.canonical import text
from app.errors import InvalidInput, pointer

Kind = Literal["run", "campaign", "probe"]
# Requests about a campaign that there is; their bodies hold its number under this name.
_ACTS = {"repeat": "repeating", "resume": "resuming"}
LONGEST = 200


class KeyReused(InvalidInput):
    """This Idempotency-Key has been used for another request"""


@dataclass(frozen=True)
class Kept:
    """What a key made before, and the body of that request."""

    kind: Kind
    id: int
    body: dict[str, Any]

    def same(self, kind: Kind, body: dict[str, Any]) -> int:
        """The run, campaign or probe that was made. Raises KeyReused where something else is asked for now, naming it or the fields that differ."""
        made: dict[str, Any] = {self.kind: self.id}
        if (self.kind, _act(self.body)) != (kind, _act(body)):
            was, now = _deed(self.kind, self.body, self.id), _deed(kind, body)
            raise KeyReused(f"This key was used for {was}; {now} takes a key of its own.", **made)
        differing = list(_differences(self.body, body))
        if differing:
            fields = [{"pointer": place, "detail": f"was {_brief(was)}, is {_brief(now)}"} for place, was, now in differing]
            named = ", ".join(place for place, _, _ in differing)
            said = f"{self.kind.capitalize()} {self.id} was submitted under this key with other values of {named}."
            raise KeyReused(said, fields=fields, **made)
        return self.id


def _act(body: dict[str, Any]) -> str | None:
    return next((name for name in _ACTS if name in body), None)


def _deed(kind: Kind, body: dict[str, Any], id: int | None = None) -> str:
    """`submitting run 7`, `repeating campaign 3`, and of what has no number yet `submitting a campaign`."""
    act = _act(body)
    if act is not None:
        return f"{_ACTS[act]} campaign {body[act]}"
    return f"submitting a {kind}" if id is None else f"submitting {kind} {id}"


def _differences(was: Any, now: Any, path: tuple[object, ...] = ()) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(was, dict) and isinstance(now, dict):
        for name in sorted(was.keys() | now.keys()):
            yield from _differences(was.get(name), now.get(name), (*path, name))
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for place, (one, other) in enumerate(zip(was, now, strict=True)):
            yield from _differences(one, other, (*path, place))
    elif text(was) != text(now):
        yield pointer(path), was, now


def _brief(value: Any) -> str:
    """A value as it was asked for; of a list that has grown or shrunk its length."""
    return f"{len(value)} of them" if isinstance(value, list) else repr(value)[:LONGEST]
