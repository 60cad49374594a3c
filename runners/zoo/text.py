"""The text that the zoo learns from: documentation in Debian's packages, English and Russian, fetched when a training starts and not kept here."""

import gzip
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runners.zoo.markup import is_prose, of_manual, of_web, tidy

PACKAGES = {
    "en": ("manpages", "manpages-dev", "developers-reference", "libreoffice-help-en-us", "debian-faq", "aptitude-doc-en"),
    "ru": ("manpages-ru", "manpages-ru-dev", "developers-reference-ru", "libreoffice-help-ru", "debian-faq-ru", "aptitude-doc-ru"),
}
HELD_OUT = 40  # one page of so many, the same ones in both languages, is never trained on


class NoText(RuntimeError):
    """The packages cannot be fetched or unpacked here. The message says why and what is needed."""


@dataclass(frozen=True)
class Page:
    """The prose of one page. `key` is the same for a page and its translation."""

    language: str
    key: str
    text: str

    @property
    def held_out(self) -> bool:
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:4]) % HELD_OUT == 0


def fetch(cache: Path) -> dict[str, str]:
    """Downloads and unpacks what `cache` lacks. {package: version}. Raises NoText."""
    names = [name for language in PACKAGES.values() for name in language]
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise NoText("the zoo's text comes out of Debian packages: run this where apt-get and dpkg-deb are")
    cache.mkdir(parents=True, exist_ok=True)
    missing = [name for name in names if not list(cache.glob(f"{name}_*.deb"))]
    if missing:
        _call(["apt-get", "download", "--quiet", *missing], cache)
    found = {}
    for name in names:
        [archive] = sorted(cache.glob(f"{name}_*.deb"))[-1:]
        if not (folder := cache / "unpacked" / name).is_dir():
            half = folder.with_suffix(".part")
            half.mkdir(parents=True, exist_ok=True)
            _call(["dpkg-deb", "--extract", str(archive), str(half)], cache)
            half.rename(folder)
        found[name] = _call(["dpkg-deb", "--field", str(archive), "Version"], cache).strip()
    return found


def _call(command: list[str], where: Path) -> str:
    done = subprocess.run(command, cwd=where, capture_output=True, text=True)
    if done.returncode != 0:
        raise NoText(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-300:]}; apt-get update may be needed first")
    return done.stdout


def pages(cache: Path) -> list[Page]:
    """All prose of the packages unpacked in `cache`, in a fixed order. A paragraph that was said before in its language is left out."""
    found = []
    for language, names in PACKAGES.items():
        said: set[str] = set()
        for name in names:
            for file in sorted((cache / "unpacked" / name).rglob("*")):
                fresh = [text for text in map(tidy, _paragraphs(file)) if is_prose(text, language) and text not in said]
                said.update(fresh)
                if fresh:
                    found.append(Page(language, _key(file), "\n".join(dict.fromkeys(fresh))))
    return found


def _paragraphs(file: Path) -> Iterator[str]:
    if file.is_symlink() or not file.is_file():
        return iter(())
    if file.suffix == ".html":
        return of_web(file.read_text(errors="replace"))
    if file.suffix == ".gz" and file.parent.name.startswith("man"):
        return of_manual(gzip.decompress(file.read_bytes()).decode(errors="replace"))
    return iter(())


def _key(file: Path) -> str:
    return file.name.replace(".en.html", ".html").replace(".ru.html", ".html")
