"""Sentences that reach a page finished, in the language of the page.

A runner of any version sends its reasons as English sentences, rows of old runs hold them, and the errors of the API are English. Each is known again
by the shape of its msgid, `There is no run %(run)s.`, and said in the page's language with the same values; one that nobody knows stays as it is.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from app.reports.endings import ENDINGS
from app.reports.engine_endings import ENGINE_ENDINGS
from app.reports.problems import PROBLEMS
from app.reports.translate import gettext
from app.reports.words import STATES, mark

_PLACE = re.compile(r"%\((\w+)\)s")
# One answer may name several faults; each is a sentence of its own.
_BETWEEN = re.compile(r"((?<=[.?]) (?=[A-Z/])|; |\n)")
# `/drafter/params/n: …`, `/drafter/params/n …`, `cursor: … (2 more)`, `drafter ngram: …`.
_AT = re.compile(r"(?P<at>/\S*?|(?:drafter|controller|verifier) [\w-]+|[\w.-]+)(?P<colon>:?) (?P<said>.+?)(?P<more> \(\d+ more\))?", re.DOTALL)
# An engine may be told with its arm and, where several are measured side by side, with how that one speculates.
_ARM = re.compile(r"(?P<engine>[^;:\n]+) of the (?P<arm>plain|speculative) arm(?P<mode>(?: \([\w-]+\))?)")
_ARMS = {"plain": mark("%(engine)s of the plain arm"), "speculative": mark("%(engine)s of the speculative arm")}
_STOP = "_stop"
# Sentences themselves, of which nothing is cut.
_FREE = ("reason", "words")
_DECIMALS = frozenset({"needed", "free", "rate", "hours", "least", "bound", "margin", "other_margin"})


def retell(text: str, locale: str) -> str:
    """A finished English sentence, or several, in another language; as they are where they are not known."""
    return known(text, locale) or text


def known(text: str, locale: str) -> str | None:
    """The same, or None where it is not known in that language."""
    return text if locale == "en" else _exactly(text, locale) or _parts(text, locale) or _shaped(text, locale) or _placed(text, locale)


def _exactly(text: str, locale: str) -> str | None:
    found = gettext(text, locale)
    if found != text:
        return found
    bare = gettext(text[:-1], locale) if text.endswith(".") else text[:-1]
    return f"{bare}." if bare != text[:-1] else None


def _shaped(text: str, locale: str) -> str | None:
    for shape, msgid in _shapes():
        found = shape.fullmatch(text)
        if found is not None:
            values = found.groupdict()
            stop = values.pop(_STOP, "")
            return gettext(msgid, locale) % {name: _value(name, value, locale) for name, value in values.items()} + stop
    return None


def _parts(text: str, locale: str) -> str | None:
    parts = _BETWEEN.split(text)
    said = [part if i % 2 else _exactly(part, locale) or _shaped(part, locale) or _placed(part, locale) for i, part in enumerate(parts)]
    return "".join(part for part in said if part is not None) if len(parts) > 1 and None not in said else None


def _placed(text: str, locale: str) -> str | None:
    """A fault at a field: the field keeps its name."""
    found = _AT.fullmatch(text)
    if found is None or not (found["colon"] or found["at"].startswith("/")):
        return None
    said = known(found["said"], locale)
    return None if said is None else f"{found['at']}: {said}" + (_more(found["more"], locale) if found["more"] else "")


def _more(text: str, locale: str) -> str:
    return " " + gettext("(%(n)s more)", locale) % {"n": re.sub(r"\D", "", text)}


def _value(name: str, value: str, locale: str) -> str:
    return _VALUES[name](value, locale) if name in _VALUES else value.replace(".", ",") if locale == "ru" and name in _DECIMALS else value


def _acts(value: str, locale: str) -> str:
    return gettext(" and ", locale).join(gettext(act, locale) for act in value.split(" and "))


def _engine(value: str, locale: str) -> str:
    found = _ARM.fullmatch(value)
    return value if found is None else gettext(_ARMS[found["arm"]], locale) % {"engine": found["engine"]} + found["mode"]


_VALUES: dict[str, Callable[[str, str], str]] = {
    "reason": retell, "why": retell, "state": lambda value, locale: gettext(STATES.get(value, value), locale),
    "engine": _engine, "act": gettext, "acts": _acts,
}  # fmt: skip


@lru_cache(maxsize=1)
def _shapes() -> list[tuple[re.Pattern[str], str]]:
    """Those that say most of their own come first: `must be %(kind)s` also fits `must be at least 2`."""
    msgids = sorted({*ENDINGS, *ENGINE_ENDINGS, *PROBLEMS}, key=lambda msgid: -len(_PLACE.sub("", msgid)))
    return [(_shape(msgid), msgid) for msgid in msgids if _PLACE.search(msgid)]


def _shape(msgid: str) -> re.Pattern[str]:
    """The same words stand in a list of faults without a stop, and as a sentence with one."""
    parts = _PLACE.split(msgid)
    shape = "".join(f"(?P<{part}>.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts))
    ended = msgid.endswith((".", "?", *(f"%({name})s" for name in _FREE)))
    return re.compile(shape + ("" if ended else rf"(?P<{_STOP}>\.?)"), re.DOTALL)
