"""The formulas of the catalogue in a language. Their English is the catalogue's own text, and a msgid as it stands."""

from app.metrics.base import Metric
from app.reports.translate import gettext


def formula_of(metric: Metric, locale: str) -> str:
    return gettext(metric.formula, locale)


def printed_of(metric: Metric, locale: str) -> str:
    """Where the same figure is printed under another name; names stay as their owners print them."""
    return gettext(metric.also_printed_as, locale) if metric.also_printed_as else ""
