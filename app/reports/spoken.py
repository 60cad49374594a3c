"""Sentences of an answer in JSON, said in full: a program that prints them has no catalogue to fill a template from."""

from typing import Any

from app.domain.sentence import Sentence
from app.reports.format import say

# What somebody else wrote is passed on as it is, whatever it looks like.
_THEIRS = frozenset({"spec", "params", "labels", "schema", "body"})


def spoken(found: Any) -> Any:
    """A JSON value in which each sentence has its English text in full beside its template and values, as `said`."""
    if isinstance(found, list):
        return [spoken(each) for each in found]
    if not isinstance(found, dict):
        return found
    inside = {name: each if name in _THEIRS else spoken(each) for name, each in found.items()}
    return inside | {"said": say(Sentence.model_validate(found))} if _is_sentence(found) else inside


def _is_sentence(found: dict[str, Any]) -> bool:
    return found.keys() == {"text", "values"} and isinstance(found["text"], str) and isinstance(found["values"], dict)
