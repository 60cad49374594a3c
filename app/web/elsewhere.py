"""What the file of each format can tell, in words."""

from dataclasses import dataclass

from app.imports.open import FORMATS
from app.reports.translate import gettext
from app.reports.words import mark

# Fields of Counts, by their signs.
_SIGNS = {"emitted": "E", "rounds": "R", "drafted": "D", "verified": "V", "undrafted": "U"}
_SINGLES = {True: mark("yes"), False: mark("no")}
_POSITIONS = ((frozenset({"kept_at", "histogram"}), mark("kept")), (frozenset({"drafted_at"}), mark("drafted")))


@dataclass(frozen=True)
class Telling:
    """`signs` are those of the counts, `positions` what is told by position."""

    format: str
    tool: str
    signs: str
    positions: str
    singles: str


def formats(locale: str) -> list[Telling]:
    return [
        Telling(
            name,
            format.tool,
            ", ".join(sign for field, sign in _SIGNS.items() if field in format.gives),
            ", ".join(gettext(words, locale) for fields, words in _POSITIONS if fields & {*format.gives}) or gettext("not told", locale),
            gettext(_SINGLES[format.singles], locale),
        )
        for name, format in sorted(FORMATS.items())
    ]
