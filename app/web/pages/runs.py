"""All runs: counts that are filters, facets with counts, one table in which speed-up and acceptance never part."""

from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from app.domain.estimate import Cell
from app.domain.sentence import Sentence
from app.domain.status import RunState
from app.reports.format import decimal, say
from app.reports.loads import spoken
from app.reports.shown import Shown, missing, pending, show
from app.reports.translate import gettext, ngettext
from app.reports.words import OUTCOMES, STATES, both, mark, speedup_of
from app.runs.schemas import OutcomeFilter, RunFilter, RunPage, RunSummary
from app.runs.service import Runs, runs_service
from app.web.preferences import locale_of
from app.web.progress import state_word
from app.web.render import page

router = APIRouter(include_in_schema=False)
FACETS = ("language", "drafter", "outcome", "state")
# Whether a drafter and a language are asked for.
_ASKED = {
    (False, False): mark("Runs"), (True, False): mark("Runs of %(drafter)s"), (False, True): mark("Runs in %(language)s"),
    (True, True): mark("Runs of %(drafter)s in %(language)s"),
}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    name: str
    count: str
    address: str
    current: bool


@dataclass(frozen=True)
class Row:
    run: RunSummary
    state: str
    load: str
    speedup: Shown
    acceptance: Shown


@router.get("/runs")
async def runs_page(
    request: Request,
    runs: Annotated[Runs, Depends(runs_service)],
    language: Annotated[str | None, Query(max_length=64)] = None,
    drafter: Annotated[str | None, Query(max_length=64)] = None,
    outcome: OutcomeFilter | None = None,
    state: RunState | None = None,
    cursor: Annotated[int | None, Query(ge=1, le=2**53)] = None,
) -> Response:
    locale = locale_of(request)
    chosen = {"language": language, "drafter": drafter, "outcome": outcome, "state": state}
    asked = {name: str(value) for name, value in chosen.items() if value}
    found = await runs.page(RunFilter(language=language, drafter=drafter, outcome=outcome, state=state, cursor=cursor))
    return page(request, "runs.html", **view(found, asked, locale))


def view(found: RunPage, asked: dict[str, str], locale: str) -> dict[str, Any]:
    return {
        "question": question(asked, locale),
        "rows": [row(run, locale) for run in found.items],
        "facets": [(gettext(name, locale), facet(name, found.facets.get(name, {}), asked, locale)) for name in FACETS if found.facets.get(name)],
        "counts": [] if asked else counts(found, locale),
        "matching": ngettext("%(n)s run matches.", "%(n)s runs match.", found.total, locale) % {"n": decimal(found.total, 0, locale)},
        "hidden": hidden(found, locale),
        "asked": asked,
        "next": "/runs?" + urlencode(asked | {"cursor": str(found.next_cursor)}) if found.next_cursor else None,
        "twin": "/api/v1/runs" + ("?" + urlencode(asked) if asked else ""),
        "total": found.total,
    }


def question(asked: dict[str, str], locale: str) -> str:
    """The filter in words, or the question of the page."""
    if not asked:
        return gettext("What has been measured?", locale)
    values = {name: asked[name] for name in ("drafter", "language") if name in asked}
    runs = say(Sentence(text=_ASKED["drafter" in asked, "language" in asked], values=dict(values)), locale)
    rest = ", ".join(_word(name, asked[name], locale) for name in ("outcome", "state") if name in asked)
    return gettext("%(runs)s: %(filter)s", locale) % {"runs": runs, "filter": rest} if rest else runs


def _word(name: str, value: str, locale: str) -> str:
    return gettext({"outcome": OUTCOMES, "state": STATES}.get(name, {}).get(value, value), locale)


def counts(found: RunPage, locale: str) -> list[tuple[str, str, str]]:
    """The sentence of the page in pieces that are links: (text, address, what stands behind it)."""

    def piece(key: str, query: str, one: str, many: str) -> tuple[str, str] | None:
        n = found.counts.get(key, 0)
        return (ngettext(one, many, n, locale) % {"n": decimal(n, 0, locale)}, f"/runs?{query}") if n else None

    ended = [
        piece(RunState.SUCCEEDED, "state=succeeded", *both("%(n)s finished", "%(n)s finished")),
        piece("pays", "outcome=pays", *both("%(n)s pays", "%(n)s pay")),
        piece("does not pay", "outcome=does+not+pay", *both("%(n)s does not pay", "%(n)s do not pay")),
        piece("cannot tell", "outcome=cannot+tell", *both("%(n)s cannot tell", "%(n)s cannot tell")),
        piece("refused", "outcome=refused", *both("%(n)s has figures refused", "%(n)s have figures refused")),
    ]
    others = [
        piece(RunState.LEASED, "state=leased", *both("%(n)s is starting", "%(n)s are starting")),
        piece(RunState.RUNNING, "state=running", *both("%(n)s is running", "%(n)s are running")),
        piece(RunState.QUEUED, "state=queued", *both("%(n)s waits", "%(n)s wait")),
        piece(RunState.FAILED, "state=failed", *both("%(n)s failed", "%(n)s failed")),
        piece(RunState.CANCELLED, "state=cancelled", *both("%(n)s cancelled", "%(n)s cancelled")),
    ]
    return [*_sentence([p for p in ended if p], ":"), *_sentence([p for p in others if p], ",")]


def _sentence(pieces: list[tuple[str, str]], after_first: str) -> list[tuple[str, str, str]]:
    """`4 finished: 2 pay, 2 do not pay.` The first piece of those that ended says how many the others divide."""
    behind = [*[after_first, *[","] * len(pieces)][: len(pieces) - 1], "."]
    return [(text, address, mark) for (text, address), mark in zip(pieces, behind, strict=True)] if pieces else []


def facet(name: str, values: dict[str, int], asked: dict[str, str], locale: str) -> list[Choice]:
    """One link per value; the chosen one leads back to all."""
    found = []
    for value, count in sorted(values.items(), key=lambda item: (-item[1], item[0])):
        current = asked.get(name) == value
        rest = {k: v for k, v in asked.items() if k != name}
        query = urlencode(rest if current else rest | {name: value})
        found.append(Choice(_word(name, value, locale), decimal(count, 0, locale), f"/runs?{query}" if query else "/runs", current))
    return found


def hidden(found: RunPage, locale: str) -> str:
    if not found.hidden:
        return ""
    text = ngettext("%(n)s run is hidden by this filter.", "%(n)s runs are hidden by this filter.", found.hidden, locale)
    return text % {"n": decimal(found.hidden, 0, locale)}


def row(run: RunSummary, locale: str) -> Row:
    cells = [_cell(run.speedup, "", run, locale), _cell(run.acceptance, "acceptance_rate", run, locale)]
    if run.speedup is not None and cells[0].value:
        cells[0] = replace(cells[0], n=f"{cells[0].n} · {speedup_of(run.speedup.id, locale)}")
    if cells[0].state == "refused" and cells[1].why == cells[0].why:
        cells[1] = Shown("refused", cells[1].id, why=gettext("refused for the same reason", locale))
    return Row(run, gettext(state_word(run), locale), spoken(run.spec.load, locale), *cells)


def _cell(cell: Cell | None, id: str, run: RunSummary, locale: str) -> Shown:
    """A run that has just succeeded has no report yet: its numbers are being computed, not missing."""
    if cell is not None:
        return show(cell, None, locale)
    if run.state != RunState.SUCCEEDED:
        return pending(gettext(state_word(run), locale))
    return pending(gettext("being computed", locale)) if run.outcome is None else missing(id, locale)
