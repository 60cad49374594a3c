"""What each number means: the catalogue of figures with their formulas."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.domain.outside.versions import shapes
from app.metrics.catalogue import METRICS
from app.reports.figures.base import Table
from app.reports.format import number
from app.reports.translate import gettext
from app.reports.words import mark, name_of
from app.statistics.verdict import FAIR_BASELINE, MOST_UNCONTROLLED
from app.web import elsewhere, gate_rates
from app.web.coverage import coverage
from app.web.engine_words import UNSEEN
from app.web.formulas import formula_of, printed_of
from app.web.preferences import locale_of
from app.web.render import page
from app.web.toy_lesson import lesson

router = APIRouter(include_in_schema=False)
_BETTER = {"higher": mark("higher is better"), "lower": mark("lower is better")}
_UNITS = {
    "share": mark("share"), "points": mark("percentage points"), "ratio": mark("ratio"), "tokens": mark("tokens"), "seconds": mark("seconds"),
    "tokens_per_second": mark("tokens per second"), "characters_per_second": mark("characters per second"),
    "words_per_second": mark("words per second"), "count": mark("count"), "layer_passes": mark("layer passes"), "experts": mark("experts"),
    "characters": mark("characters"),
    "requests_per_second": mark("requests per second"), "bytes": mark("bytes"),
}  # fmt: skip


# Load, headline, pair, interval (definitions of intervals: app.statistics).
_LOADS = (
    (
        mark("closed, one request at a time"), "speedup_end_to_end",
        mark("one prompt, decoded plainly and speculatively back to back; who goes first is drawn, and swapped in the next pass"),
        mark("t on the logarithm of mean plain ÷ mean speculative time, over prompts"),
    ),
    (
        mark("closed, several at a time"), "speedup_throughput",
        mark("two neighbouring trials of a block, with the same prompts in the same order"),
        mark("t on the logarithm, over trial pairs"),
    ),
    (
        mark("open, requests arrive by themselves"), "latency_ratio",
        mark("two neighbouring trials with the same planned arrivals"),
        mark("t on the logarithm, over trial pairs; none where an arm is unstable"),
    ),
    (
        mark("any"), "acceptance_rate",
        mark("a prompt; of two languages a prompt and its translation"),
        mark("delta method on the logit (shares) or the logarithm, t with n − 1"),
    ),
)  # fmt: skip


def loads(locale: str) -> Table:
    """What is paired with what, and what the interval is over, by load."""
    columns = (mark("Load"), mark("Headline"), mark("A pair is"), mark("Interval"))
    rows = tuple((gettext(load, locale), name_of(id, locale), gettext(pair, locale), gettext(over, locale)) for load, id, pair, over in _LOADS)
    return Table(tuple(gettext(text, locale) for text in columns), rows)


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
    locale = locale_of(request)
    return page(
        request,
        "methodology.html",
        entries=entries(locale),
        coverage=coverage(locale),
        lesson=lesson(locale),
        wrong=gate_rates.wrong(locale),
        caught=gate_rates.caught(locale),
        limits=gate_rates.limits(locale)
        | {
            "baseline": number("share", FAIR_BASELINE, locale=locale).value,
            "missing": number("share", MOST_UNCONTROLLED, locale=locale).value,
        },
        machine_wrong=gate_rates.simulated("none", locale),
        machine_caught=gate_rates.simulated("all", locale),
        noise=gate_rates.noise(locale),
        loads=loads(locale),
        formats=elsewhere.formats(locale),
        shapes=shapes(),
        unseen=gettext(UNSEEN, locale),
    )


def entries(locale: str) -> list[Entry]:
    """In the catalogue's order."""
    return [
        Entry(
            metric.id,
            name_of(metric.id, locale),
            formula_of(metric, locale),
            gettext(_UNITS.get(metric.unit, metric.unit), locale),
            gettext(_BETTER[metric.better], locale) if metric.better else gettext("neither direction is better", locale),
            printed_of(metric, locale),
        )
        for metric in METRICS.values()
    ]
