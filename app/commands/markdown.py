"""What is told, as Markdown that can be posted as it is: a comment on a merge request."""

import re
from collections.abc import Sequence

from app.commands.told import Row, Told
from app.gates.rule import Answer
from app.reports.translate import gettext
from app.reports.words import mark

SIGNS: dict[Answer, str] = {"holds": "✓", "does not hold": "✗", "could not be measured": "⊘", "cannot tell": "?"}
ALL = mark("All of it")
HEADERS = (mark("Figure"), mark("Value"), mark("95% interval"), mark("n"), mark("Bound"), mark("What follows"))


def markdown(told: Sequence[Told], base: str, locale: str) -> str:
    return "\n".join(_one(each, base, locale) for each in told)


def _one(told: Told, base: str, locale: str) -> str:
    lines = [f"### {escaped(told.question)}", "", _answer(told), ""]
    if told.rows:
        lines += [_line(["", *(gettext(text, locale) for text in HEADERS)]), "|---|---|---|---|---|---|---|", *map(_row, told.rows), ""]
    lines += [f"- {escaped(note)}" for note in told.notes] + ([""] if told.notes else [])
    return "\n".join([*lines, f"<sub>{escaped(told.passport)}</sub>", "", f"[{gettext(ALL, locale)}]({base}{told.path})", ""])


def _answer(told: Told) -> str:
    """The word in bold before the sentence, or in it where it begins with that word."""
    if not told.sentence.casefold().startswith(told.word.casefold()):
        return f"**{escaped(told.word)}.** {escaped(told.sentence)}"
    size = len(told.word)
    return f"**{escaped(told.sentence[:size])}**{escaped(told.sentence[size:])}"


def _row(row: Row) -> str:
    sign = SIGNS[row.answer] if row.answer is not None else ""
    return _line([sign, *map(escaped, (row.figure, row.value, row.interval, row.n, row.bound, row.why))])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    """One line that no renderer reads as markup, a link, a mention or the end of a cell."""
    flat = re.sub(r"\s*[\r\n\x00-\x1f\x7f]+\s*", " ", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    return re.sub(r"([\\`*_{}\[\]|~#!$])", r"\\\1", flat)
