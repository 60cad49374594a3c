"""How often the gates are wrong: those over texts on texts that people wrote and on loops made from them, those over a machine by simulation."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.reports.figures.base import Table
from app.reports.format import decimal, number
from app.reports.gates import FEWEST_JUDGED, TOLERATED
from app.reports.shown import Shown
from app.reports.translate import gettext, ngettext
from app.reports.words import both, mark
from app.statistics.rates import over_machines, over_texts

TEXTS: dict[str, str] = {
    "prompts of the suites": mark("prompts of the suites"), "messages of programs": mark("messages of programs"),
    "other texts": mark("pages of a tutorial on programming"), "loop after 0%": mark("a loop from the start"),
    "loop after 25%": mark("a loop after a quarter"), "loop after 50%": mark("a loop after half"), "loop after 70%": mark("a loop after 70%"),
    "numbered loop": mark("a loop with numbers counting up"), "answers of a model": mark("answers of a model"),
    "source code": mark("source code of a standard library"), "source code of tests": mark("unit tests of a standard library"),
}  # fmt: skip
OF = both("%(flagged)s of %(n)s text", "%(flagged)s of %(n)s texts")
OF_SIMULATED = both("%(flagged)s of %(n)s simulation", "%(flagged)s of %(n)s simulations")
GATES: dict[str, str] = {
    "disturbed": mark("disturbed"), "warm-up": mark("not steady"), "unstable": mark("unstable"), "not level": mark("bench not level"),
}  # fmt: skip
CASES: dict[tuple[str, str], str] = {
    ("disturbed", "trial"): mark("a trial of %(seconds)s s while others take %(others)s of the cores on average"),
    ("disturbed", "run"): mark("a run of 3 blocks of such trials, %(seconds)s s each, others take %(others)s: no verdict"),
    ("warm-up", "level"): mark("a machine of level pace whose steps spread by %(spread)s"),
    ("warm-up", "slow"): mark("a machine that begins %(slow)s slower and comes round over %(steps)s steps, not taken for warm until within %(near)s"),
    ("unstable", "use"): mark("requests that arrive at %(use)s of what one slot can serve"),
    ("not level", "prompts"): mark("%(prompts)s prompts, one request at a time, both places alike"),
    ("not level", "blocks"): mark("%(blocks)s blocks of trials under load, both places alike"),
    ("not level", "order"): mark("%(prompts)s prompts, one request at a time, the second place slower by %(effect)s"),
}
COUNTED = frozenset({"seconds", "steps", "prompts", "blocks", "slots"})
COLUMNS = (
    ("degenerate", "ru", mark("repeats itself, Russian")), ("degenerate", "en", mark("repeats itself, English")),
    ("other language", "ru", mark("other language, Russian")), ("other language", "en", mark("other language, English")),
)  # fmt: skip


def wrong(locale: str) -> Table:
    """Shares of texts without fault that a gate flags: each is a mistake."""
    return _table("none", locale)


def caught(locale: str) -> Table:
    """Shares of looping texts that the gate flags: each that it does not is a mistake."""
    return _table("all", locale, COLUMNS[:2])


def _table(wanted: str, locale: str, columns: Sequence[tuple[str, str, str]] = COLUMNS) -> Table:
    rates = [rate for rate in over_texts()["rates"] if rate["wanted"] == wanted]
    kinds = list(dict.fromkeys((rate["texts"], rate["characters"], rate["profile"]) for rate in rates))
    by = {(rate["texts"], rate["characters"], rate["profile"], rate["gate"], rate["language"]): rate for rate in rates}
    rows: list[tuple[str | Shown, ...]] = [
        (_text(*kind, locale), *[_shown(by.get((*kind, gate, language)), locale) for gate, language, _ in columns]) for kind in kinds
    ]
    return Table((gettext("Texts", locale), *(gettext(title, locale) for _, _, title in columns)), tuple(rows))


def _text(texts: str, characters: str, profile: str | None, locale: str) -> str:
    named = gettext(TEXTS.get(texts, texts), locale)
    if profile is not None:
        return gettext("%(texts)s, profile %(profile)s", locale) % {"texts": named, "profile": profile}
    if not characters.isdigit():
        return named
    size = gettext("%(n)s characters each", locale) % {"n": decimal(int(characters), 0, locale)}
    return f"{named}, {size}"


def _shown(rate: Mapping[str, Any] | None, locale: str, of: tuple[str, str] = OF) -> Shown:
    if rate is None:
        return Shown("absent", why=gettext("not judged", locale))
    printed = number("share", rate["flagged"] / rate["n"], rate["low"], rate["high"], locale)
    words = {"flagged": decimal(rate["flagged"], 0, locale), "n": decimal(rate["n"], 0, locale)}
    return Shown("value", value=printed.value, interval=printed.interval or "", n=ngettext(*of, rate["n"], locale) % words)


def simulated(wanted: str, locale: str) -> Table:
    """How often a gate over the machine fires where it should on `none` of the simulations, or on `all` of them."""
    columns = (gettext("Simulated", locale), gettext("It fires", locale))
    rows = [(_case(rate, locale), _shown(rate, locale, OF_SIMULATED)) for rate in over_machines()["rates"] if rate["wanted"] == wanted]
    return Table(columns, tuple(rows))


def _case(rate: Mapping[str, Any], locale: str) -> str:
    said = gettext(CASES[rate["gate"], rate["case"]], locale) % _words(rate["values"], locale)
    return f"{gettext(GATES[rate['gate']], locale)}: {said}"


def _words(values: Mapping[str, float], locale: str) -> dict[str, str]:
    return {name: decimal(value, 0, locale) if name in COUNTED else number("share", value, locale=locale).value for name, value in values.items()}


def noise(locale: str) -> dict[str, str]:
    """The noise that was simulated, as two runs showed it."""
    alone, beside = over_machines()["noise"]["alone"], over_machines()["noise"]["beside other work"]
    return _words({"others": alone["others"], "step": alone["step"], "beside_others": beside["others"], "beside_step": beside["step"]}, locale)


def limits(locale: str) -> dict[str, str]:
    """What the gates go by, as they were measured."""
    found = over_texts()["limits"]
    return {
        "repeat": decimal(found["repeat_characters"], 0, locale),
        "repeated": number("share", found["repeated_share"], locale=locale).value,
        "closing": number("share", found["closing_cycle_share"], locale=locale).value,
        "letters": decimal(found["letters"], 0, locale),
        "tolerated": number("share", TOLERATED, locale=locale).value,
        "judged": number("share", FEWEST_JUDGED, locale=locale).value,
    }
