"""What a run's parameters say of its drafts, read by the same names from the drafter and the controller of every runner."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from app.domain.spec import OWN_ENGINE, Choice, RunSpec

# A tree stands on another drafter: its name, and its parameters in one text.
OF, SETTINGS = "of", "settings"
# A drafter's own model, by source and name.
MODEL = "model"
# What a served engine's ways to speculate call the longest draft that they make.
LONGEST = ("n_max", "size_m", "tokens", "longest_draft")


def settings(text: str) -> dict[str, str]:
    """`name=value, name=value` as a mapping. Raises ValueError for a text of another shape."""
    found: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, value = map(str.strip, part.partition("="))
        if not equals or not name or name in found:
            raise ValueError(f'settings are name=value with commas between them, each name once; "{part}" is not')
        found[name] = value
    return found


def innermost(drafter: Choice) -> Choice:
    """The drafter that the tokens come from: of a tree the one that it stands on, with its parameters as far as they can be read."""
    of, text = drafter.params.get(OF), drafter.params.get(SETTINGS)
    if not isinstance(of, str) or not isinstance(text, str):
        return drafter
    try:
        return Choice(name=of, params=settings(text))
    except ValueError:
        return Choice.model_construct(name=of, params={})


def asked_model(drafter: Choice) -> str | None:
    """The model of its own that a drafter is asked to draft with, as SOURCE:NAME."""
    found = innermost(drafter).params.get(MODEL)
    return found if isinstance(found, str) else None


def longest_draft(spec: RunSpec) -> int | None:
    """The most tokens that a round of this run may put before the verifier: what its controller reaches, of a tree as many as it then has nodes; on a
    served engine what its way to speculate says. None where the parameters do not say."""
    if spec.engine != OWN_ENGINE:
        return next((asked for name in LONGEST if isinstance(asked := spec.drafter.params.get(name), int)), None)
    params = spec.controller.params
    longest = params.get("longest", params.get("length"))
    if not isinstance(longest, int):
        return None
    return longest if OF not in spec.drafter.params else _nodes(spec.drafter.params, longest)


def _nodes(params: Mapping[str, Any], depth: int) -> int | None:
    nodes, width = params.get("nodes"), params.get("width")
    return most_nodes(nodes, width, depth) if isinstance(nodes, int) and isinstance(width, int) else None


def most_nodes(nodes: int, width: int, depth: int) -> int:
    """The most tokens of a tree of at most `nodes`, where each of `width` paths is followed by as many tokens, `depth` one behind the other."""
    return min(nodes, width + (depth - 1) * width**2) if depth > 0 else 0


def uneven(params: Mapping[str, Any]) -> str | None:
    """What is wrong where acceptance is made up, by shares of rounds that keep a draft and all before it, and these cannot be such."""
    shares, most = params.get("rates"), params.get("n_max")
    if not isinstance(shares, list | tuple) or not isinstance(most, int) or not all(isinstance(share, int | float) for share in shares):
        return None
    if len(shares) != most or any(later > share for share, later in pairwise(shares)):
        return f"rates has one entry for each of the {most} drafts that n_max allows, none above the one before"
    return None


def crossed(params: Mapping[str, Any]) -> str | None:
    """What is wrong where the least of two parameters exceeds the most."""
    for least, most in (("shortest", "longest"), ("length", "longest"), ("low", "high"), ("n_min", "n_max"), ("lookup_min", "lookup_max")):
        low, high = params.get(least), params.get(most)
        if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            return f"{least} may not exceed {most}"
    return None
