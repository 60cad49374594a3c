"""Numbers and sentences for people, in the two languages of the pages. Nothing else formats a number; JSON and CSV carry full precision.

An interval decides the digits: its half-width keeps one significant digit, two if it begins with 1 or 2. No end is ever rounded onto a value that
decides (a ratio of 1, a difference of 0, a share of 0 or 1), since `1.02 to 1.1` printed from 1.0004 would show another verdict than the report's.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from babel.dates import format_datetime
from babel.numbers import format_decimal

from app.domain.estimate import Counted, Estimate
from app.domain.language import base_of
from app.domain.sentence import Quantity, Sentence
from app.reports.fields import field_name, field_value
from app.reports.retold import retell
from app.reports.translate import cldr, gettext, language_name, ngettext
from app.reports.words import arm_of, both, mark

NO_BREAK = "\u00a0"
MINUS = "\u2212"
HUGE = 1e15
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_DECIDING: dict[str, tuple[float, ...]] = {"ratio": (1.0,), "points": (0.0,), "share": (0.0, 1.0)}
_MOST = 4
# Decimals at most where a bound that somebody set decides: it may be any number.
_FINEST = 12


@dataclass(frozen=True)
class Style:
    """How one unit is printed: `scale` multiplies, `least` and `most` bound the decimals, `suffix` is glued on (with its own no-break space). A
    number that was `asked` for and not measured has no more digits than it was asked with."""

    scale: float = 1.0
    least: int = 0
    most: int = 3
    suffix: Callable[[str], str] = field(default=lambda _: "")
    deciding: tuple[float, ...] = ()
    exact: bool = False
    asked: bool = False


def _unit(en: str, ru: str, space: str = NO_BREAK) -> Callable[[str], str]:
    return lambda locale: space + (ru if locale == "ru" else en)


def _percent(locale: str) -> str:
    # CLDR's own pattern knows whether a space stands before the sign: "#,##0%" or "#,##0\u00a0%".
    return str(cldr(locale).percent_formats[None].pattern).replace("#,##0", "")


_NODES = _unit("of tree nodes", "узлов дерева")
STYLES: dict[str, Style] = {
    "ratio": Style(least=2, most=3, suffix=lambda _: "×", deciding=_DECIDING["ratio"]),
    "share": Style(scale=100, least=1, most=1, suffix=_percent, deciding=_DECIDING["share"]),
    "points": Style(scale=100, least=1, most=1, suffix=_unit("pp", "п.\u00a0п."), deciding=_DECIDING["points"]),
    "number": Style(least=0, most=3),
    "share_of_nodes": Style(scale=100, least=1, most=1, suffix=lambda locale: _percent(locale) + _NODES(locale), deciding=_DECIDING["share"]),
    "tokens": Style(most=3, suffix=_unit("tok", "ток.")),
    "characters": Style(most=3, suffix=_unit("char", "симв.")),
    "layer_passes": Style(most=2, suffix=_unit("passes", "прох.")),
    "experts": Style(most=2, suffix=_unit("experts", "эксп.")),
    "count": Style(exact=True, most=0),
    "tokens_per_second": Style(most=2, suffix=_unit("tok/s", "токен/с")),
    "characters_per_second": Style(most=2, suffix=_unit("char/s", "симв./с")),
    "words_per_second": Style(most=2, suffix=_unit("words/s", "слов/с")),
    "requests_per_second": Style(most=3, suffix=_unit("requests/s", "запр./с")),
    "asked_rate": Style(most=4, asked=True, suffix=_unit("requests/s", "запр./с")),
    "per_second": Style(most=2, suffix=_unit("/s", "/с", "")),
    "seconds": Style(most=2, suffix=_unit("s", "с")),
    "milliseconds": Style(scale=1000, most=1, suffix=_unit("ms", "мс")),
    "bytes": Style(scale=2**-20, most=0, suffix=_unit("MiB", "МиБ")),
}


@dataclass(frozen=True)
class Printed:
    """A number ready for print: `interval` has its brackets, `unit` stands after the value alone."""

    value: str
    interval: str | None

    def __str__(self) -> str:
        return self.value if self.interval is None else f"{self.value} {self.interval}"


def style_of(kind: str, largest: float) -> Style:
    """The style of a unit for numbers up to `largest` in size: times below a second are printed in milliseconds."""
    return STYLES["milliseconds"] if kind == "seconds" and abs(largest) < 1 else STYLES[kind]


def decimals(style: Style, value: float, low: float | None, high: float | None, beside: float | None = None) -> int:
    """Decimals of a number and of both ends of its interval; `beside` decides too, and nothing else is rounded onto it."""
    scaled = [v * style.scale for v in (value, low, high) if v is not None]
    if style.asked:
        return next((digits for digits in range(style.most) if round(value, digits) == value), style.most)
    if style.exact:
        return 0 if all(float(v).is_integer() for v in scaled) else 1
    if low is not None and high is not None and high > low:
        half = (high - low) / 2 * style.scale
        magnitude = _magnitude(half)
        digits = (1 if half / 10**magnitude < 3 else 0) - magnitude
    else:
        size = abs(scaled[0])
        digits = 2 - _magnitude(size) if size > 0 else 0
    digits = min(max(digits, style.least), style.most)
    while digits < _MOST and _lands_on_a_deciding_value(style, digits, (value, low, high)):
        digits += 1
    if beside is not None:
        style = replace(style, deciding=(beside,))
        while digits < _FINEST and _lands_on_a_deciding_value(style, digits, (value, low, high)):
            digits += 1
    return digits


def _magnitude(value: float) -> int:
    return max(math.floor(math.log10(value)), -300) if math.isfinite(value) else 0


def _lands_on_a_deciding_value(style: Style, digits: int, values: tuple[float | None, ...]) -> bool:
    return any(
        v is not None and v != mark and round(v * style.scale, digits) == round(mark * style.scale, digits) for v in values for mark in style.deciding
    )


def decimal(value: float, digits: int, locale: str) -> str:
    """A bare number with exactly `digits` decimals: grouped, with the locale's own marks and a true minus. One of more digits than anybody reads, or
    than a sum has exactly, is a power of ten."""
    if abs(value) >= HUGE:
        return _power(value, locale)
    pattern = "#,##0" + ("." + "0" * digits if digits else "")
    text = format_decimal(value, format=pattern, locale=locale)
    # Russian groups by U+00A0 in CLDR; a later CLDR may choose the narrow one.
    text = text.replace("\u202f", NO_BREAK).replace("-", MINUS)
    return text.lstrip(MINUS) if not any(c in text for c in "123456789") else text


def _power(value: float, locale: str) -> str:
    sign = MINUS if value < 0 else ""
    if math.isinf(value):
        return f"{sign}∞"
    mantissa, _, exponent = f"{abs(value):.1e}".partition("e+")
    return f"{sign}{decimal(float(mantissa), 1, locale)}{NO_BREAK}×{NO_BREAK}10" + exponent.lstrip("0").translate(_RAISED)


def number(
    kind: str, value: float, low: float | None = None, high: float | None = None, locale: str = "en", *, beside: float | None = None
) -> Printed:
    """A value of a unit (see STYLES) with its interval."""
    style = style_of(kind, max(abs(v) for v in (value, low, high) if v is not None))
    digits = decimals(style, value, low, high, beside)
    text = decimal(value * style.scale, digits, locale) + style.suffix(locale)
    if low is None or high is None:
        return Printed(text, None)
    ends = [decimal(end * style.scale, digits, locale) for end in (low, high)]
    return Printed(text, f"[{('; ' if locale == 'ru' else ', ').join(ends)}]".replace(" ", NO_BREAK))


def asked(kind: str, value: float, locale: str = "en") -> str:
    """A number that somebody set, with the digits that it was set with."""
    style = style_of(kind, value)
    scaled = value * style.scale
    digits = next((digits for digits in range(style.least, _FINEST) if math.isclose(round(scaled, digits), scaled)), _FINEST)
    return decimal(scaled, digits, locale) + style.suffix(locale)


def estimate(unit: str, found: Estimate, locale: str = "en") -> Printed | None:
    """A point with its interval; None when there is no point (the estimate's reason says why)."""
    return None if found.point is None else number(unit, found.point, found.low, found.high, locale)


_TRIAL_PAIRS = both("%(n)s trial pair", "%(n)s trial pairs")
_NOUNS = {
    "prompts": both("%(n)s prompt", "%(n)s prompts"),
    "parallel pairs": both("%(n)s parallel pair", "%(n)s parallel pairs"),
    "trial pairs": _TRIAL_PAIRS,
    "trial_pairs": _TRIAL_PAIRS,
    "requests": both("%(n)s request", "%(n)s requests"),
    "rounds": both("%(n)s round", "%(n)s rounds"),
    "windows": both("%(n)s window", "%(n)s windows"),
    "runs": both("%(n)s run", "%(n)s runs"),
    "trials": both("%(n)s trial", "%(n)s trials"),
    "blocks": both("%(n)s block", "%(n)s blocks"),
    "pairs": both("%(n)s pair", "%(n)s pairs"),
    "tokens": both("%(n)s token", "%(n)s tokens"),
    "checks": both("%(n)s check", "%(n)s checks"),
}


# Of clusters, of which some may carry nothing.
_NOUNS_OF = {
    "prompts": both("%(n)s of %(of)s prompt", "%(n)s of %(of)s prompts"),
    "parallel pairs": both("%(n)s of %(of)s parallel pair", "%(n)s of %(of)s parallel pairs"),
    "trial pairs": both("%(n)s of %(of)s trial pair", "%(n)s of %(of)s trial pairs"),
    "blocks": both("%(n)s of %(of)s block", "%(n)s of %(of)s blocks"),
    "requests": both("%(n)s of %(of)s request", "%(n)s of %(of)s requests"),
}
# A difference of shares is that of all pairs; its spread is known from those of the run that drafted in fewer.
_PAIRS_OF = mark("%(pairs)s (the run with fewer drafted in %(n)s)")


def counted(n: int, what: Counted | str, locale: str = "en", *, of: int | None = None) -> str:
    """`48 prompts`, `1 prompt`, `21 промпт`, and with `of` `9 of 16 prompts`, with no-break spaces."""
    if of is None:
        text = ngettext(*_NOUNS[what], n, locale) % {"n": decimal(n, 0, locale)}
    else:
        text = ngettext(*_NOUNS_OF[what], of, locale) % {"n": decimal(n, 0, locale), "of": decimal(of, 0, locale)}
    return text.replace(" ", NO_BREAK)


def rests_on(found: Estimate, locale: str = "en") -> str:
    """The clusters that an estimate rests on, of all that there were."""
    return counted(found.n, found.counted, locale, of=found.of)


def quantity(found: Quantity, locale: str = "en") -> str:
    """A number inside a sentence, with its interval where it has one."""
    if found.asked:
        return asked(found.kind, found.value, locale)
    return str(number(found.kind, found.value, found.low, found.high, locale, beside=found.beside))


def say(sentence: Sentence, locale: str = "en") -> str:
    """A sentence in a language. A number whose placeholder is named as a counted noun (`prompts`, `trials`, …) carries that noun: `48 prompts`, and
    with a value `prompts_of` beside it `9 of 16 prompts`; `pairs_of` are the pairs of a difference, of which `pairs` count for its spread;
    `language` is a BCP-47 tag and is said as the language's name, which translations that need another case take as `language_in`."""
    text = gettext(sentence.text, locale)
    if not sentence.values:
        # A text without placeholders may say "100%".
        return text
    values = {name: _value(name, value, locale) for name, value in sentence.values.items()} | _clusters(sentence, locale) | _field(sentence, locale)
    for name, tag in sentence.values.items():
        if name.endswith("language") and isinstance(tag, str):
            values[f"{name}_in"] = _LANGUAGE_IN.get(base_of(tag), f"языке «{values[name]}»")
    # A unit that is abbreviated ends the sentence with its own stop.
    return re.sub(r"(?<=[а-я])\.\.(?!\.)", ".", text % values)


# Russian says "на русском", not "на русский".
_LANGUAGE_IN = {"ru": "русском", "en": "английском", "de": "немецком", "fr": "французском", "es": "испанском", "uk": "украинском"}


# Placeholders whose values are words of ours that fit into any sentence as they are.
_OURS = {"gate", "count"}


def _clusters(sentence: Sentence, locale: str) -> dict[str, str]:
    found = {noun: (sentence.values.get(noun), sentence.values.get(f"{noun}_of")) for noun in (*_NOUNS_OF, "pairs")}
    known = [(noun, n, of) for noun, (n, of) in found.items() if isinstance(n, int) and isinstance(of, int)]
    return {noun: _pairs(n, of, locale) if noun == "pairs" else counted(n, noun, locale, of=of) for noun, n, of in known}


def _pairs(n: int, of: int, locale: str) -> str:
    return gettext(_PAIRS_OF, locale) % {"pairs": counted(of, "pairs", locale), "n": decimal(n, 0, locale)}


def _field(sentence: Sentence, locale: str) -> dict[str, str]:
    """A field of the passport by its name, and what two runs have in it."""
    field = sentence.values.get("field")
    if not isinstance(field, str):
        return {}
    said = {name: field_value(field, value, locale) for name in ("first", "second") if isinstance(value := sentence.values.get(name), str)}
    return said | {"field": field_name(field, locale)}


def _value(name: str, value: str | int | Quantity, locale: str) -> str:
    if isinstance(value, Quantity):
        return quantity(value, locale)
    if isinstance(value, int):
        return counted(value, name, locale) if name in _NOUNS else decimal(value, 0, locale)
    if name in _OURS:
        return gettext(value, locale)
    if name == "reason":
        return retell(value, locale)
    if name == "arm":
        return arm_of(value, locale)
    return language_name(value, locale) if name == "language" or name.endswith("_language") else value


def moment(when: datetime, locale: str = "en") -> str:
    """`30 Nov 2026, 14:05`, `30 нояб. 2026, 14:05`."""
    pattern = "d MMM y, HH:mm"
    return format_datetime(when, format=pattern, locale=locale)


def duration(seconds: float, locale: str = "en") -> str:
    """`4 min 12 s`, `4 мин 12 с`; under a minute seconds alone."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    units = ("ч", "мин", "с") if locale == "ru" else ("h", "min", "s")
    parts = [(hours, units[0]), (minutes, units[1]), (rest if not hours else 0, units[2])]
    shown = [f"{decimal(amount, 0, locale)}{NO_BREAK}{unit}" for amount, unit in parts if amount] or [f"0{NO_BREAK}{units[2]}"]
    return " ".join(shown)
