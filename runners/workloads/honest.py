"""Texts that people wrote and that do not loop, cut as a token limit cuts an answer; read where they lie, never kept."""

import gettext
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from runners.workloads.words import count_letters

LENGTHS = (40, 160, 640, 2560)  # characters
_PROSE = {".md", ".txt", ".rst"}
# Of a standard library: what was installed there, and tables that programs wrote.
_NOT_WRITTEN = {"site-packages", "encodings", "pydoc_data"}
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")


def pieces(texts: list[str], length: int, most: int) -> list[str]:
    """At most `most` disjoint pieces of `length` characters that begin at a paragraph outside code, evenly spread over the texts."""
    found = [piece for text in texts for piece in _cut(text, length)]
    step = max(1, len(found) // most)
    return found[::step][:most]


def _cut(text: str, length: int) -> Iterator[str]:
    free = 0
    for paragraph in re.finditer(r"(?:\A|\n\s*\n)\s*(?=\S)", text):
        start = paragraph.end()
        if start >= free and start + length <= len(text) and text.count("```", 0, start) % 2 == 0:
            yield text[start : start + length]
            free = start + length


def files(folder: Path) -> list[str]:
    """The Markdown and plain texts under a folder, in the order of their paths."""
    return _read(path for path in folder.rglob("*") if path.suffix in _PROSE and path.is_file())


def sources(folder: Path, *, tests: bool) -> list[str]:
    """The Python files under a folder that are tests, or those that are none, in the order of their paths."""
    found = ((path, path.relative_to(folder).parts) for path in folder.rglob("*.py") if not _NOT_WRITTEN & set(path.parts))
    return _read(path for path, parts in found if any("test" in part for part in parts) == tests)


def _read(paths: Iterable[Path]) -> list[str]:
    return [path.read_text(encoding="utf-8", errors="replace") for path in sorted(paths)]


def messages(folder: Path, language: str, least: int) -> list[str]:
    """Messages of at least `least` letters from the compiled catalogues (*.mo) under a locale folder.

    English ones are the originals of the Russian catalogue. What a translator left in English is left out of the Russian ones.
    """
    found: set[str] = set()
    for path in sorted((folder / "ru" / "LC_MESSAGES").glob("*.mo")):
        for original, translation in _entries(path):
            text = original if language == "en" else translation
            letters = count_letters(text)
            if letters >= least and (language != "ru" or len(_CYRILLIC.findall(text)) > letters / 2):
                found.add(text)
    return sorted(found)


def _entries(path: Path) -> Iterator[tuple[str, str]]:
    """(original, translation); plural forms and contexts are taken apart, a broken catalogue has none."""
    try:
        with path.open("rb") as file:
            catalogue: dict[str | tuple[str, int], str] = vars(gettext.GNUTranslations(file))["_catalog"]
    except (OSError, UnicodeDecodeError, ValueError):
        return
    for key, translation in catalogue.items():
        original = key if isinstance(key, str) else key[0]
        if original:
            yield original.rsplit("\x04", 1)[-1], translation
