"""What a page says in Latin letters, as far as it is said to a person: the eye of the tests of the Russian pages.

Not read are the elements that hold somebody else's words or a program's: code, and what the page itself marks as foreign (`lang`) or as a name that
is the same in every language (`translate="no"`). The sentences of plots are read too, from the JSON that the page draws them from.
"""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

_FOREIGN = {"code", "pre", "kbd", "samp", "style"}
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_SPOKEN = ("aria-label", "title", "alt", "placeholder")
# The keys of a plotly figure whose strings are drawn or shown under the pointer.
_DRAWN = {"text", "hovertext", "ticktext", "title", "hovertemplate", "texttemplate", "name"}
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9'’._/-]*")
# What a sentence quotes: a command, a name or a foreign word.
_QUOTED = re.compile(r"`[^`]*`|«[\w .,:/-]*»", re.ASCII)
# Fingerprints, ids of the prompts of a suite, addresses, labels, settings, and the Latin half of a compound such as KV-кэш.
_MADE = re.compile(
    r"\b(?=[a-f]*\d)[0-9a-f]{5,64}\b|\b[a-z]+\d*-(?:\d\d|ru|en)\b|(?<!\w)(?:https?:/)?/\S*|\b\w+=\S+|\b[A-Z]+(?:_[A-Z]+)+\b|\b[A-Za-z]+-(?=[а-яё])"
)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self._open: list[tuple[str, bool]] = []
        self.said: list[str] = []
        self.plots: list[str] = []

    @property
    def _skipped(self) -> bool:
        return any(skipped for _, skipped in self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        lang = given.get("lang")
        foreign = tag in _FOREIGN or given.get("translate") == "no" or (lang is not None and lang != "ru")
        if not (self._skipped or foreign):
            self.said += [value for name in _SPOKEN if (value := given.get(name))]
        if tag not in _VOID:
            plot = tag == "script" and (given.get("id") or "").startswith("figure-")
            self._open.append(("plot" if plot else tag, foreign or (tag == "script" and not plot)))

    def handle_endtag(self, tag: str) -> None:
        names = [name if name != "plot" else "script" for name, _ in self._open]
        if tag in names:
            del self._open[len(names) - 1 - names[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][0] == "plot":
            self.plots.append(data)
        elif not self._skipped and data.strip():
            self.said.append(" ".join(data.split()))


def sentences(html: str) -> Iterator[str]:
    """Every piece of text of a page that a person reads, hears or sees in a plot."""
    reader = _Reader()
    reader.feed(html)
    yield from reader.said
    for plot in reader.plots:
        yield from _drawn(json.loads(plot), None)


def _drawn(found: Any, key: str | None) -> Iterator[str]:
    if isinstance(found, dict):
        for name, value in found.items():
            yield from _drawn(value, name if name in _DRAWN else None)
    elif isinstance(found, list):
        for value in found:
            yield from _drawn(value, key)
    elif isinstance(found, str) and key is not None:
        yield re.sub(r"<[^>]*>", " ", found)


def words(text: str) -> list[str]:
    """The words in Latin letters of what a text says itself."""
    return _WORD.findall(_MADE.sub(" ", _QUOTED.sub(" ", text)))
