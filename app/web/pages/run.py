"""One run: its progress while it is measured, its report when it is done."""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from fastapi.sse import format_sse_event

from app.access.principal import Submitter
from app.access.seen import Who
from app.badges import words
from app.domain.estimate import Figure
from app.domain.status import FINAL, RunState, cut
from app.reports.figures import along, economics, fertility, forest, latency, lengths, positions, profiles, sameness, spans, throughput, trials
from app.reports.figures.base import Table
from app.reports.format import decimal, duration, number, say
from app.reports.imported_shown import held
from app.reports.loads import brief
from app.reports.report import Report
from app.reports.shown import Shown, find, is_refused, missing, part_of, pending, plain_number, show
from app.reports.translate import gettext
from app.reports.words import mark, name_of
from app.runners_registry.service import Registry, registry_service
from app.runs.relatives import Relatives, relatives_service
from app.runs.schemas import RunSummary
from app.runs.service import NotFinished, Runs, runs_service
from app.storage.notifications import Notifications
from app.web import passport, progress
from app.web.compiled import compiled
from app.web.losslessness import output, partings
from app.web.next_steps import steps
from app.web.preferences import locale_of
from app.web.refused import refused
from app.web.render import HEADERS, fragment, page
from app.web.standalone import standalone
from app.web.why import why

router = APIRouter(include_in_schema=False)
POLL_SECONDS = 2.0
PING_SECONDS = 15.0


@router.get("/runs/{run_id}")
async def run_page(
    run_id: int,
    request: Request,
    who: Who,
    runs: Annotated[Runs, Depends(runs_service)],
    registry: Annotated[Registry, Depends(registry_service)],
    relatives: Annotated[Relatives, Depends(relatives_service)],
    position: str = "at",
) -> Response:
    locale = locale_of(request)
    summary = await runs.get(run_id)
    report = await runs.report(run_id)
    events = await runs.events(run_id, 0)
    context = view(summary, report, locale, position)
    badge, drawn = words.link(report, str(request.base_url)), words.of_run(report, locale)
    following = steps(report, await relatives.twins(run_id), await registry.catalogue(), locale, submits="submit" in who.scopes)
    return page(request, "run.html", events=events, badge=badge, badge_svg=drawn, steps=following, **context)


@router.get("/runs/{run_id}/report.html")
async def run_file(run_id: int, request: Request, runs: Annotated[Runs, Depends(runs_service)], position: str = "at") -> Response:
    """The report as one file that needs no network."""
    summary, report = await runs.get(run_id), await runs.report(run_id)
    if summary.state not in FINAL:
        raise NotFinished(f"Run {run_id} is {summary.state}; its report can be saved when it has ended.")
    headers = {"Content-Disposition": f'attachment; filename="bezmen-run-{run_id}.html"'}
    events = await runs.events(run_id, 0)
    return await standalone(request, "run.html", headers, events=events, badge="", steps=(), **view(summary, report, locale_of(request), position))


@router.post("/runs/{run_id}/cancel")
async def cancel(run_id: int, principal: Submitter, runs: Annotated[Runs, Depends(runs_service)]) -> Response:
    await runs.cancel(run_id, principal=principal)
    return RedirectResponse(f"/runs/{run_id}", status_code=303)


@router.get("/runs/{run_id}/stream")
async def stream(run_id: int, request: Request, runs: Annotated[Runs, Depends(runs_service)]) -> StreamingResponse:
    """The whole state at once, then whatever changes, then `final`. A dropped tab that reconnects has missed nothing."""
    await runs.get(run_id)
    notifications = cast(Notifications, request.app.state.notifications)
    headers = HEADERS | {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_changes(run_id, runs, notifications, locale_of(request)), media_type="text/event-stream", headers=headers)


async def _changes(run_id: int, runs: Runs, notifications: Notifications, locale: str) -> AsyncIterator[bytes]:
    last, stage, spoken = "", "", time.monotonic()
    while not notifications.stopping.is_set():
        summary = await runs.get(run_id)
        shown = progress.show(summary, locale)
        body = fragment("_progress.html", locale, run=summary, progress=shown, live=True)
        if shown.stage != stage:
            stage = shown.stage
            yield format_sse_event(event="stage", data_str=fragment("_stage.html", locale, text=stage))
        if body != last:
            last, spoken = body, time.monotonic()
            yield format_sse_event(event="progress", data_str=body)
        if summary.state in FINAL:
            yield format_sse_event(event="final", data_str=str(summary.state))
            return
        if time.monotonic() - spoken >= PING_SECONDS:
            spoken = time.monotonic()
            yield format_sse_event(comment="alive")
        # The place in the queue changes without a word about this run, so the wait is short.
        await notifications.wait(f"run:{run_id}", POLL_SECONDS)


def view(summary: RunSummary, report: Report, locale: str, position: str) -> dict[str, Any]:
    """Everything that the template prints, in words."""
    final = summary.state in FINAL
    plots = [
        forest.build([report], locale),
        economics.build(report, locale),
        positions.build([report], locale, position),
        lengths.build([report], locale),
        along.build([report], locale),
        spans.build([report], locale),
        profiles.build([report], locale),
        fertility.build([report], locale),
        throughput.build([report], locale),
        latency.build([report], locale),
        sameness.build(report, locale),
        trials.build(report, locale),
    ]
    return {
        "run": summary,
        "report": report,
        "final": final,
        "progress": progress.show(summary, locale),
        "title": title(summary, report, locale),
        "tiles": tiles(summary, report, locale),
        "why": why(report, locale),
        "passport": passport.compact(report, locale),
        "full_passport": passport.full(report, locale),
        "plots": [p for p in plots if p.figure or p.empty] if summary.state == RunState.SUCCEEDED else [],
        "toggles": _toggles(summary.id, position, locale),
        "refused": refused([report], locale),
        "is_refused": is_refused(report),
        "figures": all_figures([report], locale) if _differs(report) else Table((), ()),
        "partings": partings(report.losslessness, locale),
        "held": [held(each, locale) for each in report.beside],
        "prompts": prompts(report, locale),
        "environment": environment(report, locale),
        "twin": f"/api/v1/runs/{summary.id}/report",
    }


def _differs(report: Report) -> bool:
    """Whether the list of figures says more than the tiles: of a run that was cut off each row would give the run's end once more."""
    first = next((cell.reason for cell in report.cells if not isinstance(cell, Figure)), None)
    return any(isinstance(cell, Figure) or cell.reason != first for cell in report.cells)


def title(summary: RunSummary, report: Report, locale: str) -> str:
    """The answer first, so that a tab can be read."""
    spec = summary.spec
    answer = gettext(report.verdict.outcome if summary.state == RunState.SUCCEEDED else progress.state_word(summary), locale)
    load = gettext("load", locale)
    return f"{answer} · {spec.drafter_title} · {spec.language} · {load} {brief(spec.load, locale)} · #{summary.id}"


@dataclass(frozen=True)
class Tile:
    """`id` leads to the figure's definition, if it has one."""

    id: str
    title: str
    shown: Shown
    note: str = ""


def tiles(summary: RunSummary, report: Report, locale: str) -> list[Tile]:
    """Speed-up and acceptance side by side, the ceiling and the output beside them: always four, so that nothing jumps when results arrive."""
    ids = (report.headline, report.acceptance, "tokens_per_target_forward")
    if summary.state not in FINAL:
        waits = pending(progress.show(summary, locale).waits)
        return [*[Tile(id, name_of(id, locale), waits) for id in ids], Tile("", gettext("Output", locale), waits)]
    found = [Tile(id, name_of(id, locale), find(report, id, locale), _note(report, id, locale)) for id in ids]
    first = found[0].shown
    failed = summary.state == RunState.FAILED and first.why == say(report.answer, locale)
    for i, tile in enumerate(found[1:], start=1):
        if (tile.shown.state == first.state == "refused" or failed) and tile.shown.why == first.why:
            found[i] = replace(tile, shown=replace(tile.shown, why=gettext("For the same reason.", locale), remedy=""))
    if failed:
        # The answer above it has said why, in full.
        found[0] = replace(found[0], shown=replace(first, why=gettext("The run failed, for the reason above.", locale)))
    return [*found, Tile("", gettext("Output", locale), _output(report, found[0].shown, locale))]


def _output(report: Report, first: Shown, locale: str) -> Shown:
    if cut(RunState(report.state)) and first.state == "refused":
        return Shown("refused", "losslessness", why=gettext("For the same reason.", locale))
    return output(report.losslessness, locale, drawn=report.spec.sampling.temperature > 0)


def _note(report: Report, id: str, locale: str) -> str:
    """What the costs of stages say beside a measured number: the speed-up that they foretell, the acceptance that they ask for."""
    if id == report.headline:
        foretold = find(report, "predicted_speedup", locale)
        return gettext("predicted from costs: %(value)s", locale) % {"value": foretold.value} if foretold.value else ""
    if id != report.acceptance:
        return ""
    cell, bar = report.find("break_even_acceptance"), find(report, "break_even_acceptance", locale)
    if isinstance(cell, Figure) and cell.pooled.point is not None and cell.pooled.point > 1:
        return gettext("cannot pay at any acceptance", locale)
    return gettext("break-even %(value)s", locale) % {"value": bar.value} if bar.value else ""


def all_figures(reports: Sequence[Report], locale: str) -> Table:
    """Every cell of every report in the order of the catalogue, one row per figure and part."""
    keys = list(dict.fromkeys((cell.id, tuple(cell.part.items())) for r in reports for cell in r.cells))
    rows: list[tuple[str | Shown, ...]] = []
    for id, part in keys:
        cells = [r.find(id, **dict(part)) for r in reports]
        narrowed = next((part_of(c, locale) for c in cells if c is not None), "")
        name = name_of(id, locale) + (f", {narrowed}" if narrowed else "")
        rows.append((name, *[missing(id, locale) if c is None else show(c, r, locale) for c, r in zip(cells, reports, strict=True)]))
    names = [f"{r.spec.language} · {r.spec.drafter_title} · #{r.run}" for r in reports]
    return Table((gettext("Figure", locale), *names), tuple(rows))


def prompts(report: Report, locale: str) -> Table:
    """One row per prompt: for looking, not for quoting."""
    words = (
        mark("Prompt"), mark("Profile"), mark("Speed-up"), mark("Drafted"), mark("Kept"), mark("Rounds"), mark("Output tokens"), mark("Answer"),
    )  # fmt: skip
    rows = []
    for row in report.prompts:
        nothing = Shown("absent", why=gettext("no pair", locale))
        speed = nothing if row.speedup is None else plain_number("ratio", row.speedup, locale)
        loops = gettext("loops", locale) if row.degenerate else ""
        answer = ", ".join(text for text in (row.answer_language or gettext("undetermined", locale), loops) if text)
        untold = Shown("absent", why=gettext("the engine did not tell it", locale))
        counts = [untold if n is None else decimal(n, 0, locale) for n in (row.drafted, row.verified, row.rounds, row.emitted)]
        rows.append((row.prompt, row.profile, speed, *counts, answer))
    return Table(tuple(gettext(word, locale) for word in words), tuple(rows))


def environment(report: Report, locale: str) -> list[tuple[str, str]]:
    found = report.environment
    if found is None:
        return []
    rows = [
        (gettext("device", locale), found.device),
        (gettext("cores", locale), decimal(found.cores, 0, locale)),
        (gettext("threads", locale), decimal(found.threads, 0, locale)),
        (gettext("memory", locale), number("bytes", found.memory_bytes, locale=locale).value),
        (gettext("system", locale), found.system),
        *sorted(found.versions.items()),
        *sorted(found.details.items()),
    ]
    if (forwards := compiled(report, locale)) is not None:
        rows.append((gettext("compiled forwards", locale), forwards))
    if report.warmup is not None:
        steady = gettext("steady after %(time)s", locale) if report.warmup.steady else gettext("not steady after %(time)s", locale)
        rows.append((gettext("warm-up", locale), steady % {"time": duration(report.warmup.seconds, locale)}))
    return rows


def _toggles(run_id: int, position: str, locale: str) -> list[tuple[str, str, bool]]:
    chosen = position if position in positions.SHORT else "at"
    return [(gettext(text, locale), f"/runs/{run_id}?position={key}#plot-positions", key == chosen) for key, text in positions.SHORT.items()]
