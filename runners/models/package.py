"""Weights inside a pip package, located by the package's metadata; the package itself is never imported."""

import hashlib
import importlib.metadata
import re
import shutil
from pathlib import Path

_PART = re.compile(r"^(?P<whole>.+\.gguf)\.part\d+$")


class NoWeights(ValueError):
    """The package carries no weights that can be read."""


def locate(package: str, file: str | None, cache: Path) -> Path:
    """The package's GGUF file. A file shipped in parts (also over packages that this one requires) is joined once into `cache`.

    Raises NoWeights when the package is not installed, or holds no such file or more than one.
    """
    try:
        listed = _files(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise NoWeights(f"the package {error.name} is not installed here") from error
    whole = {path.name: path for path in listed if path.suffix == ".gguf"}
    parts: dict[str, list[Path]] = {}
    for path in listed:
        if found := _PART.match(path.name):
            parts.setdefault(found["whole"], []).append(path)
    names = sorted({*whole, *parts}) if file is None else [file]
    if len(names) != 1 or names[0] not in {*whole, *parts}:
        raise NoWeights(f"the package {package} holds {', '.join(sorted({*whole, *parts})) or 'no GGUF file'}; name one of them in model.file")
    return whole[names[0]] if names[0] in whole else _join(names[0], sorted(parts[names[0]], key=lambda p: p.name), cache)


def _files(package: str) -> list[Path]:
    found = importlib.metadata.distribution(package)
    own = [Path(str(found.locate_file(file))) for file in found.files or []]
    # Parts may lie in sibling packages named after this one; nothing else that it requires is looked into.
    siblings = [name for name in map(_required, found.requires or []) if name.startswith(f"{package}-part")]
    return own + [path for name in siblings for path in _files(name)]


def _required(requirement: str) -> str:
    return re.split(r"[ ;<>=!~\[(]", requirement, maxsplit=1)[0].lower()


def _join(name: str, parts: list[Path], cache: Path) -> Path:
    whole = cache / name
    size = sum(part.stat().st_size for part in parts)
    if whole.exists() and whole.stat().st_size == size:
        return whole
    cache.mkdir(parents=True, exist_ok=True)
    joining = whole.with_suffix(".joining")
    with joining.open("wb") as out:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, out)
    joining.replace(whole)
    return whole


def digest(paths: list[Path]) -> str:
    """SHA-256 over the content of the files in the order given."""
    running = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                running.update(block)
    return running.hexdigest()
