"""How often the gates over texts are wrong: measured on texts that people wrote, and on loops made from them."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from app.reports.figures.base import Table
from app.reports.format import decimal, number
from app.reports.gates import TOLERATED
from app.reports.shown import Shown
from app.reports.translate import gettext, ngettext
from app.reports.words import both, mark

TEXTS: dict[str, str] = {
    "prompts of the suites": mark("prompts of the suites"), "messages of programs": mark("messages of programs"),
    "other texts": mark("pages of a tutorial on programming"), "loop after 0%": mark("a loop from the start"),
    "loop after 25%": mark("a loop after a quarter"), "loop after 50%": mark("a loop after half"), "loop after 70%": mark("a loop after 70%"),
    "numbered loop": mark("a loop with numbers counting up"), "answers of a model": mark("answers of a model"),
}  # fmt: skip
OF = both("%(flagged)s of %(n)s text", "%(flagged)s of %(n)s texts")
COLUMNS = (
    ("degenerate", "ru", mark("repeats itself, Russian")), ("degenerate", "en", mark("repeats itself, English")),
    ("other language", "ru", mark("other language, Russian")), ("other language", "en", mark("other language, English")),
)  # fmt: skip


@cache
def _measured() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((files("app.statistics") / "calibration.json").read_text(encoding="utf-8"))
    return found


def wrong(locale: str) -> Table:
    """Shares of texts without fault that a gate flags: each is a mistake."""
    return _table("none", locale)


def caught(locale: str) -> Table:
    """Shares of looping texts that the gate flags: each that it does not is a mistake."""
    return _table("all", locale, COLUMNS[:2])


def _table(wanted: str, locale: str, columns: Sequence[tuple[str, str, str]] = COLUMNS) -> Table:
    rates = [rate for rate in _measured()["rates"] if rate["wanted"] == wanted]
    kinds = list(dict.fromkeys((rate["texts"], rate["characters"]) for rate in rates))
    by = {(rate["texts"], rate["characters"], rate["gate"], rate["language"]): rate for rate in rates}
    rows: list[tuple[str | Shown, ...]] = [
        (_text(*kind, locale), *[_shown(by.get((*kind, gate, language)), locale) for gate, language, _ in columns]) for kind in kinds
    ]
    return Table((gettext("Texts", locale), *(gettext(title, locale) for _, _, title in columns)), tuple(rows))


def _text(texts: str, characters: str, locale: str) -> str:
    named = gettext(TEXTS.get(texts, texts), locale)
    if not characters.isdigit():
        return named
    size = gettext("%(n)s characters each", locale) % {"n": decimal(int(characters), 0, locale)}
    return f"{named}, {size}"


def _shown(rate: Mapping[str, Any] | None, locale: str) -> Shown:
    if rate is None:
        return Shown("absent", why=gettext("not judged: too few letters", locale))
    printed = number("share", rate["flagged"] / rate["n"], rate["low"], rate["high"], locale)
    words = {"flagged": decimal(rate["flagged"], 0, locale), "n": decimal(rate["n"], 0, locale)}
    return Shown("value", value=printed.value, interval=printed.interval or "", n=ngettext(*OF, rate["n"], locale) % words)


def limits(locale: str) -> dict[str, str]:
    """What the gates go by, as they were measured."""
    found = _measured()["limits"]
    return {
        "repeat": decimal(found["repeat_characters"], 0, locale),
        "repeated": number("share", found["repeated_share"], locale=locale).value,
        "closing": number("share", found["closing_cycle_share"], locale=locale).value,
        "letters": decimal(found["letters"], 0, locale),
        "tolerated": number("share", TOLERATED, locale=locale).value,
    }
