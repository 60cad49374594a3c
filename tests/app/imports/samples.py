"""The files of tools that tests read, and the files as they would be with something changed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.domain.outside.imported import Imported
from app.imports.open import imported

FOLDER = Path(__file__).parents[2] / "samples"


def content(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def document(name: str) -> Any:
    """The JSON of a file; the list of its lines for JSON Lines."""
    text = content(name).decode()
    return [json.loads(line) for line in text.splitlines()] if name.endswith("jsonl") else json.loads(text)


def changed(name: str, change: Callable[[Any], None]) -> Imported:
    """What the file tells after `change` of its document, in place."""
    value = document(name)
    change(value)
    return imported(json.dumps(value).encode())


def told(found: Imported) -> tuple[int | None, ...]:
    """(N, E, R, V, D) of the total."""
    counts = found.total.counts
    return counts.requests, counts.emitted, counts.rounds, counts.verified, counts.drafted
