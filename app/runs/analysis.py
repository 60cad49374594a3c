"""Which analysis a cached report came from: a fingerprint of the code that computes it, so that no report outlives its formulas."""

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from app.domain.passport import DEFINITION

PACKAGES = ("app.domain", "app.metrics", "app.statistics", "app.reports")


@cache
def analysis() -> str:
    """`bezmen-1+<digest>`: the definition, and SHA-256 over every source file that a figure may depend on."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for name, text in sorted(_sources(files(package), package)):
            digest.update(f"{name}\0{text}\0".encode())
    return f"{DEFINITION}+{digest.hexdigest()[:16]}"


def earlier(made_by: str | None) -> str | None:
    """The analysis of a kept report where it is not the one in force: whoever shows such a report names it."""
    return None if made_by == analysis() else made_by


def _sources(folder: Traversable, path: str) -> list[tuple[str, str]]:
    found = []
    for item in folder.iterdir():
        if item.is_file() and item.name.endswith(".py"):
            found.append((f"{path}/{item.name}", item.read_text(encoding="utf-8")))
        elif item.is_dir() and item.name != "__pycache__":
            found += _sources(item, f"{path}/{item.name}")
    return found
