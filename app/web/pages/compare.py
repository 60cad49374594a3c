"""Two or more runs side by side: the answer, where the passports differ, and only then the figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from app.comparisons.service import Comparisons, comparisons_service
from app.comparisons.service import ids as named
from app.domain.status import FINAL
from app.reports.figures import along, fertility, forest, lengths, positions, profiles, throughput
from app.reports.figures.base import Table
from app.reports.format import say
from app.reports.report import Comparison, Report
from app.reports.shown import Shown, find, is_refused, part_of, show_contrast
from app.reports.translate import gettext
from app.reports.words import name_of, speedup_of
from app.runs.schemas import RunSummary
from app.runs.service import Runs, runs_service
from app.web import passport, progress
from app.web.pages.run import refused
from app.web.preferences import locale_of
from app.web.render import page

router = APIRouter(include_in_schema=False)
ACCEPTANCE = "acceptance_rate"
KEY_FIGURES = (ACCEPTANCE, "tokens_per_target_forward")


@router.get("/compare")
async def compare_page(
    request: Request,
    comparisons: Annotated[Comparisons, Depends(comparisons_service)],
    service: Annotated[Runs, Depends(runs_service)],
    runs: Annotated[list[str], Query(max_length=100)] = [],  # noqa: B006
    position: str = "at",
) -> Response:
    ids, locale = named(runs), locale_of(request)
    if len(ids) < 2:
        return page(request, "compare_choose.html", chosen=ids)
    states = [await service.get(id) for id in ids]
    if any(run.state not in FINAL for run in states):
        return page(request, "compare_wait.html", **waiting(states, locale))
    found = await comparisons.compare(ids)
    return page(request, "compare.html", **view(found, ids, position, locale))


def waiting(states: Sequence[RunSummary], locale: str) -> dict[str, Any]:
    """Each run's progress, while there is nothing to compare yet."""
    rows = [(run, None if run.state in FINAL else progress.show(run, locale)) for run in states]
    ids = [run.id for run in states]
    return {"rows": rows, "ids": ids, "permalink": address(ids), "left": sum(shown is not None for _, shown in rows)}


@dataclass(frozen=True)
class Judged:
    """One run in the answer: its verdict, and the two numbers that are never shown one without the other."""

    report: Report
    refused: bool
    kind: str
    speedup: Shown
    acceptance: Shown


def judged(report: Report, locale: str) -> Judged:
    kind, speedup = speedup_of(report.headline, locale), find(report, report.headline, locale)
    return Judged(report, is_refused(report), kind, speedup, find(report, ACCEPTANCE, locale))


def address(ids: Sequence[int], **more: str) -> str:
    return "/compare?" + urlencode({"runs": ",".join(map(str, ids))} | more, safe=",")


def view(found: Comparison, ids: Sequence[int], position: str, locale: str) -> dict[str, Any]:
    reports, runs = found.reports, urlencode({"runs": ",".join(map(str, ids))}, safe=",")
    plots = [
        forest.build(reports, locale),
        profiles.build(reports, locale, found.contrasts),
        positions.build(reports, locale, position),
        lengths.build(reports, locale),
        along.build(reports, locale),
        fertility.build(reports, locale, found.contrasts),
        throughput.build(reports, locale),
    ]
    return {
        "comparison": found,
        "reports": reports,
        "title": f"{say(found.answer, locale)} · {', '.join(f'#{id}' for id in ids)}",
        "verdicts": [judged(r, locale) for r in reports],
        "reasons": [text for text in found.refused if text != found.answer],
        "key_table": key_table(found, locale),
        "differences": passport.side_by_side(found, locale),
        "passports": [(r, passport.compact(r, locale)) for r in reports],
        "plots": plots,
        "toggles": [
            (gettext(text, locale), address(ids, position=key) + "#plot-positions", key == position) for key, text in positions.SHORT.items()
        ],
        "figures": figures_table(found, locale),
        "refused": refused(reports, locale),
        "swap": address([ids[1], ids[0], *ids[2:]]),
        "permalink": address(ids),
        "twin": "/api/v1/comparisons?" + runs,
        "csv": "/api/v1/comparisons.csv?" + runs,
    }


def key_table(found: Comparison, locale: str) -> Table:
    """Speed-up and acceptance first and next to each other; then what a token carries; the contrast of the first against the second last."""
    headlines = dict.fromkeys(r.headline for r in found.reports)
    keys: list[tuple[str, dict[str, str]]] = [(id, {}) for id in (*headlines, *KEY_FIGURES)]
    keys += [("fertility", {"text": "prompts", "per": "word"}), ("chars_per_round", {}), ("throughput", {"arm": "speculative", "of": "characters"})]
    return _table(found, keys, locale)


def _table(found: Comparison, keys: Sequence[tuple[str, dict[str, str]]], locale: str) -> Table:
    contrasted = len(found.reports) == 2 or bool(found.contrasts)
    rows: list[tuple[str | Shown, ...]] = []
    for id, part in keys:
        cells = [r.find(id, **part) for r in found.reports]
        narrowed = next((part_of(c, locale) for c in cells if c is not None), "")
        row: list[str | Shown] = [name_of(id, locale) + (f", {narrowed}" if narrowed else ""), *[find(r, id, locale, **part) for r in found.reports]]
        if contrasted:
            row.append(_contrast(found, id, part, locale))
        rows.append(tuple(row))
    columns = [gettext("Figure", locale), *[heading(r) for r in found.reports]]
    return Table((*columns, gettext("first against second", locale)) if contrasted else tuple(columns), tuple(rows))


def _contrast(found: Comparison, id: str, part: dict[str, str], locale: str) -> Shown:
    contrast = next((c for c in found.contrasts if c.id == id and c.part == part), None)
    return Shown("absent", id, why=gettext("not contrasted", locale)) if contrast is None else show_contrast(contrast, locale)


def heading(report: Report) -> str:
    mark = {"ru": " ●", "en": " ■"}.get(report.spec.language.split("-")[0], "")
    return f"{report.spec.language}{mark} · {report.spec.drafter.name} · #{report.run}"


def figures_table(found: Comparison, locale: str) -> Table:
    keys = list(dict.fromkeys((cell.id, tuple(cell.part.items())) for r in found.reports for cell in r.cells))
    return _table(found, [(id, dict(part)) for id, part in keys], locale)
