"""What each number means: the catalogue of figures with their formulas."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.metrics.catalogue import METRICS
from app.reports.translate import gettext
from app.reports.words import mark, name_of
from app.web.coverage import coverage
from app.web.preferences import locale_of
from app.web.render import page

router = APIRouter(include_in_schema=False)
_BETTER = {"higher": mark("higher is better"), "lower": mark("lower is better")}
_UNITS = {
    "share": mark("share"), "points": mark("percentage points"), "ratio": mark("ratio"), "tokens": mark("tokens"), "seconds": mark("seconds"),
    "tokens_per_second": mark("tokens per second"), "characters_per_second": mark("characters per second"),
    "words_per_second": mark("words per second"), "count": mark("count"), "layer_passes": mark("layer passes"), "characters": mark("characters"),
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    id: str
    name: str
    formula: str
    unit: str
    better: str
    printed: str


@router.get("/methodology")
async def methodology(request: Request) -> Response:
    return page(request, "methodology.html", entries=entries(locale_of(request)), coverage=coverage(locale_of(request)))


def entries(locale: str) -> list[Entry]:
    """In the catalogue's order; formulas are the catalogue's own text in every language."""
    return [
        Entry(
            metric.id,
            name_of(metric.id, locale),
            metric.formula,
            gettext(_UNITS.get(metric.unit, metric.unit), locale),
            gettext(_BETTER[metric.better], locale) if metric.better else gettext("neither direction is better", locale),
            metric.also_printed_as,
        )
        for metric in METRICS.values()
    ]
