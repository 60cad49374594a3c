"""Faults in the file of engines, in words of whoever wrote it: the key, its line, and what is to stand there."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tomllib import TOMLDecodeError

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from app.domain import spelling

Keys = Mapping[str, Sequence[str]]
TABLE = "is to be a table, which begins with [engines.NAME]"
# What pydantic says of a key; bounds stand for themselves.
SAID = {
    "missing": "is missing",
    "string_type": "is to be text, in quotes",
    "path_type": "is to be a path, as text in quotes",
    "tuple_type": "is to be a list, in square brackets",
    "dict_type": TABLE,
    "model_attributes_type": TABLE,
    "too_short": "has no entry, and needs one at least",
    "too_long": "has more than {max_length} entries",
    "string_too_short": "is empty",
    "string_too_long": "has more than {max_length} characters",
}
VARIABLE = "is to be the name of an environment variable: letters, digits and underscores, with no digit first"
_PART = r"(?:\"[^\"]*\"|'[^']*'|[\w-]+)"
_PATH = rf"({_PART}(?:\s*\.\s*{_PART})*)"
_HEADER, _GIVEN = re.compile(rf"\s*\[\s*{_PATH}\s*\]"), re.compile(rf"\s*{_PATH}\s*=")
# What the reader of TOML says of a key that is given twice.
_TWICE = re.compile(
    r"(?:Cannot overwrite a value|Cannot declare .* twice|Cannot mutate immutable namespace .*|Duplicate inline table key .*) \(at line (\d+)"
)


def unreadable(file: Path, error: TOMLDecodeError) -> str:
    twice = _TWICE.match(str(error))
    return f"{file}, line {twice[1]}: what begins or stands here is given twice; give it once" if twice else f"{file} is not TOML: {error}"


def sentence(file: Path, text: str, error: ValidationError, keys: Keys) -> str:
    """The first fault. `keys` are those that there are of an engine of each kind, and under an empty name those of the file."""
    first = error.errors(include_url=False, include_input=False)[0]
    said, loc = _said(first, keys), list(first["loc"])
    if not loc:
        named, _, said = said.partition(": ")
        # A name may hold dots, and no key does.
        _, _, engine = named.partition(".")
        name, _, key = engine.rpartition(".") if engine.endswith((".url", ".plain")) else (engine, "", "")
        loc = ["engines", name, *([key] if key else [])]
    elif loc[0] == "engines":
        # Behind an engine's name stands its kind, which is no key.
        del loc[2:3]
    path = [str(part) for part in loc if not isinstance(part, int)]
    entry = "".join(f", entry {part + 1}" for part in loc if isinstance(part, int))
    return f"{file}, line {line_of(text, path)}: {'.'.join(path)}{entry}: {said}"


def _said(fault: ErrorDetails, keys: Keys) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    kinds = ", ".join(name for name in keys if name)
    if kind == "union_tag_not_found":
        return f"needs a kind: {kinds}"
    if kind == "union_tag_invalid":
        return f"has a kind that is not known; there are {kinds}"
    if kind == "extra_forbidden":
        return f"is no key that is known here; there are {', '.join(keys[str(fault['loc'][2]) if len(fault['loc']) > 1 else ''])}"
    if kind == "string_pattern_mismatch":
        return spelling.SAID.get(context["pattern"], VARIABLE)
    return SAID[kind].format(**context) if kind in SAID else fault["msg"].removeprefix("Value error, ")


def line_of(text: str, keys: Sequence[str]) -> int:
    """The first line of the deepest of `keys` that the text has, from 1."""
    table: list[str] = []
    at, deepest = 1, 0
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = path = _parts(header[1])
        elif given := _GIVEN.match(line):
            path = [*table, *_parts(given[1])]
        else:
            continue
        pairs = zip(path, keys, strict=False)
        depth = next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(path), len(keys)))
        if depth > deepest:
            at, deepest = number, depth
    return at


def _parts(path: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_PART, path)]
