"""A load in words."""

from app.domain.spec import Load
from app.reports.format import decimal, number
from app.reports.translate import gettext


def code(load: Load) -> str:
    """`closed 4`, `open 2/s slots 4`, `open 2/s burstiness 0.5 slots 4`: for tables of machines, the same in every language."""
    if load.rate is None:
        return f"{load.kind} {load.concurrency}"
    bursts = f" burstiness {load.burstiness:g}" if load.burstiness not in (None, 1.0) else ""
    return f"{load.kind} {load.rate:g}/s{bursts} slots {load.concurrency}"


def slug(load: Load) -> str:
    """`4`, `open-2-s4`, `open-2-b0.5-s4`: for addresses."""
    if load.rate is None:
        return str(load.concurrency)
    bursts = f"-b{load.burstiness:g}" if load.burstiness not in (None, 1.0) else ""
    return f"{load.kind}-{load.rate:g}{bursts}-s{load.concurrency}"


def spoken(load: Load, locale: str) -> str:
    """`closed 4`; `open, 2 requests/s, Poisson, at most 4 at once`."""
    if load.rate is None:
        return f"{gettext(load.kind, locale)} {decimal(load.concurrency, 0, locale)}"
    poisson = load.burstiness in (None, 1.0)
    shape = number("number", load.burstiness or 1.0, locale=locale).value
    pattern = gettext("Poisson", locale) if poisson else gettext("burstiness %(value)s", locale) % {"value": shape}
    most = gettext("at most %(n)s at once", locale) % {"n": decimal(load.concurrency, 0, locale)}
    return f"{gettext('open', locale)}, {rate(load, locale)}, {pattern}, {most}"


def brief(load: Load, locale: str) -> str:
    """What tells loads apart where there is little room: requests at once, or the rate."""
    return decimal(load.concurrency, 0, locale) if load.rate is None else rate(load, locale)


def rate(load: Load, locale: str) -> str:
    return number("asked_rate", load.rate or 0.0, locale=locale).value
