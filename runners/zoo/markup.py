"""Prose out of manual pages and web pages: paragraphs as a person reads them, without commands, tables and code."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

SHORTEST = 60  # characters of a paragraph
LETTERS = 0.72  # share of letters and spaces that prose has at least
_CYRILLIC = re.compile("[а-яё]", re.IGNORECASE)
_LATIN = re.compile("[a-z]", re.IGNORECASE)
_BREAKS = frozenset(["PP", "P", "LP", "TP", "IP", "HP", "SH", "SS", "TQ", "RS", "RE", "br", "sp", "Pp", "Sh"])
_FONTS = frozenset(["B", "I", "BR", "RB", "BI", "IB", "IR", "RI", "SM", "SB", "R"])
_SKIPPED = {"nf": "fi", "EX": "EE", "TS": "TE", "de": ".", "ig": ".", "UR": "", "MT": ""}
_ESCAPES = {
    "aq": "'", "dq": '"', "em": "—", "en": "–", "bu": "", "co": "©", "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "rs": "\\", "ti": "~", "ha": "^",
    "ga": "`", "mu": "×", "<=": "≤", ">=": "≥", "->": "→", "+-": "±", "Fo": "«", "Fc": "»", "hy": "-", "..": "…",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:f(?:\(..|\[[^]]*\]|.)|s[-+]?\d|\*?\((..)|\*?\[([^]]*)\]|([-'`.e ~&|^%:/,c0]))")
_PLAIN = {"e": "\\", "~": " ", " ": " ", "0": " ", "-": "-", "'": "'", "`": "`", ".": "."}
_BLOCKS = frozenset([
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "dd", "dt", "td", "th", "div", "tr", "table", "ul", "ol", "dl", "br", "section", "body",
])  # fmt: skip
_SILENT = frozenset(["script", "style", "pre", "head", "nav", "textarea", "button"])


def _escaped(found: re.Match[str]) -> str:
    named = found.group(1) or found.group(2)
    return _ESCAPES.get(named, "") if named else _PLAIN.get(found.group(3) or "", "")


def of_manual(source: str) -> Iterator[str]:
    """Paragraphs of a page in troff's man macros."""
    words: list[str] = []
    until: str | None = None
    for line in source.splitlines():
        if until is not None:
            until = None if re.match(rf"[.']\s*{re.escape(until)}(\s|$)", line) else until
            continue
        if not line.startswith((".", "'")):
            words.append(_ESCAPE.sub(_escaped, line))
            continue
        name, _, rest = line[1:].strip().partition(" ")
        if name in _FONTS:
            words.append(_arguments(rest, glue="" if len(name) == 2 and name not in {"SM", "SB"} else " "))
        elif name in _BREAKS or name in _SKIPPED:
            yield " ".join(words)
            words = []
            until = _SKIPPED.get(name) or None
    yield " ".join(words)


def _arguments(rest: str, glue: str) -> str:
    found = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', re.sub(r"\\ ", "\u00a0", rest))]
    return glue.join(_ESCAPE.sub(_escaped, each) for each in found)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._words: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        if tag in _BLOCKS:
            self.close_paragraph()

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT and self._silent > 0
        if tag in _BLOCKS:
            self.close_paragraph()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._words.append(data)

    def close_paragraph(self) -> None:
        self.found.append("".join(self._words))
        self._words = []


def of_web(source: str) -> Iterator[str]:
    """Paragraphs of an HTML page."""
    page = _Page()
    page.feed(source)
    page.close()
    page.close_paragraph()
    yield from page.found


def is_prose(text: str, language: str) -> bool:
    """Sentences in the language, which is `en` or `ru`: long enough, mostly of letters, and written in its script."""
    cyrillic, latin = len(_CYRILLIC.findall(text)), len(_LATIN.findall(text))
    if len(text) < SHORTEST or (cyrillic + latin + text.count(" ")) / len(text) < LETTERS or not text.endswith((".", "!", "?", ":", ";")):
        return False
    return cyrillic == 0 if language == "en" else cyrillic > 1.5 * latin


def tidy(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace(" .", ".").replace(" ,", ",").strip()
