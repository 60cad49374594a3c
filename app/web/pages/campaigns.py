"""Campaigns: runs that were submitted together, how far they are, and what can be done with all of them at once."""

import secrets
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from fastapi.sse import format_sse_event

from app.access.principal import Submitter
from app.campaigns.routes import page_of, shown
from app.campaigns.schemas import CampaignFilter, CampaignLine, CampaignOut, Progress
from app.domain.status import FINAL, RunState
from app.reports.format import NO_BREAK, counted, decimal, duration
from app.reports.translate import gettext, ngettext
from app.reports.words import both
from app.runs.campaigns import Campaigns, campaigns_service
from app.runs.schemas import RunSummary
from app.storage.notifications import Notifications
from app.web import progress as run_progress
from app.web.pages.runs import row
from app.web.preferences import locale_of
from app.web.render import HEADERS, fragment, page

router = APIRouter(include_in_schema=False)
Service = Annotated[Campaigns, Depends(campaigns_service)]
Key = Annotated[str | None, Form(min_length=1, max_length=64)]
POLL_SECONDS = 1.0
PING_SECONDS = 15.0
# A report that is not there by then could not be computed.
REPORT_SECONDS = 60.0

_COUNTS: dict[str, tuple[str, str]] = {
    "pays": both("%(n)s pays", "%(n)s pay"),
    "does not pay": both("%(n)s does not pay", "%(n)s do not pay"),
    "cannot tell": both("%(n)s cannot tell", "%(n)s cannot tell"),
    "refused": both("%(n)s refused", "%(n)s refused"),
    RunState.RUNNING: both("%(n)s is running", "%(n)s are running"),
    RunState.LEASED: both("%(n)s is starting", "%(n)s are starting"),
    RunState.QUEUED: both("%(n)s waits", "%(n)s wait"),
    RunState.FAILED: both("%(n)s failed", "%(n)s failed"),
    RunState.CANCELLED: both("%(n)s cancelled", "%(n)s cancelled"),
    RunState.SUCCEEDED: both("%(n)s finished", "%(n)s finished"),
}


@router.get("/campaigns")
async def campaigns_page(request: Request, campaigns: Service, filter: Annotated[CampaignFilter, Depends()]) -> Response:
    locale, found = locale_of(request), await page_of(filter, campaigns)
    rows = [(line, line_words(line, locale)) for line in found.items]
    following = f"/campaigns?cursor={found.next_cursor}" if found.next_cursor else None
    return page(request, "campaigns.html", rows=rows, next=following, twin="/api/v1/campaigns")


@router.get("/campaigns/{campaign}")
async def campaign_page(campaign: int, request: Request, campaigns: Service) -> Response:
    return page(request, "campaign.html", key=secrets.token_hex(8), **view(await shown(campaign, campaigns), locale_of(request)))


@router.post("/campaigns/{campaign}/cancel")
async def cancel(campaign: int, principal: Submitter, campaigns: Service) -> Response:
    await campaigns.cancel(campaign, principal=principal)
    return _to(campaign)


@router.post("/campaigns/{campaign}/resume")
async def resume(campaign: int, principal: Submitter, campaigns: Service, key: Key = None) -> Response:
    await campaigns.resume(campaign, principal=principal, idempotency_key=_form(key))
    return _to(campaign)


@router.post("/campaigns/{campaign}/repeat")
async def repeat(campaign: int, principal: Submitter, campaigns: Service, key: Key = None) -> Response:
    repeated, _ = await campaigns.repeat(campaign, principal=principal, idempotency_key=_form(key))
    return _to(repeated)


def _form(key: str | None) -> str | None:
    """The key lies in the form, so a second click on the button makes nothing new."""
    return None if key is None else f"form-{key}"


def _to(campaign: int) -> Response:
    return RedirectResponse(f"/campaigns/{campaign}", status_code=303)


@router.get("/campaigns/{campaign}/stream")
async def stream(campaign: int, request: Request, campaigns: Service) -> StreamingResponse:
    """The whole state at once and whenever it changes, then `final`: whoever connects again has missed nothing."""
    await shown(campaign, campaigns)
    notifications = cast(Notifications, request.app.state.notifications)
    headers = HEADERS | {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_changes(campaign, campaigns, notifications, locale_of(request)), media_type="text/event-stream", headers=headers)


async def _changes(campaign: int, campaigns: Campaigns, notifications: Notifications, locale: str) -> AsyncIterator[bytes]:
    last, spoken = "", time.monotonic()
    while not notifications.stopping.is_set():
        found = await shown(campaign, campaigns)
        body = fragment("_campaign.html", locale, **view(found, locale))
        if body != last:
            last, spoken = body, time.monotonic()
            yield format_sse_event(event="progress", data_str=body)
        if settled(found):
            yield format_sse_event(event="final", data_str="ended")
            return
        if time.monotonic() - spoken >= PING_SECONDS:
            spoken = time.monotonic()
            yield format_sse_event(comment="alive")
        # Any of its runs may speak; a look once a second costs less than a channel for each.
        await notifications.wait(f"campaign:{campaign}", POLL_SECONDS)


def view(found: CampaignOut, locale: str) -> dict[str, Any]:
    """Everything that the template prints, in words."""
    succeeded = [run.id for run in found.runs if run.state == RunState.SUCCEEDED]
    return {
        "campaign": found,
        "question": gettext("What came of “%(title)s”?", locale) % {"title": found.title},
        "final": settled(found),
        "sentence": sentence(found, locale),
        "left": left(found.progress, locale),
        "share": found.progress.ended / found.progress.total,
        "rows": [row(run, locale) for run in found.runs],
        "at_work": [(run.id, run_progress.show(run, locale)) for run in found.runs if run.state in (RunState.LEASED, RunState.RUNNING)],
        "earlier": [row(run, locale) for run in found.earlier],
        "resumable": any(run.resumable for run in found.runs),
        "compare": f"/compare?runs={','.join(map(str, succeeded[:8]))}" if len(succeeded) > 1 else None,
        "twin": f"/api/v1/campaigns/{found.id}",
    }


def settled(found: CampaignOut) -> bool:
    """Whether nothing more will be said: all runs have ended, and those that succeeded have their verdict, or have waited long enough for it."""
    return all(run.state in FINAL and (run.state != RunState.SUCCEEDED or run.outcome is not None or _long_ago(run)) for run in found.runs)


def _long_ago(run: RunSummary) -> bool:
    return run.finished_at is not None and datetime.now(UTC) - run.finished_at > timedelta(seconds=REPORT_SECONDS)


def sentence(found: CampaignOut, locale: str) -> str:
    """`6 runs: 2 pay, 1 cannot tell, 3 wait.`"""
    counts: dict[str, int] = {}
    for run in found.runs:
        key = _key(run)
        counts[key] = counts.get(key, 0) + 1
    return f"{counted(len(found.runs), 'runs', locale)}: {_pieces(counts, locale)}."


def _key(run: RunSummary) -> str:
    """Under which word it is counted, as in the list of all runs: a refused one apart from those that cannot tell."""
    if run.state != RunState.SUCCEEDED or run.outcome not in _COUNTS:
        return run.state.value
    return "refused" if run.refused else run.outcome


def line_words(line: CampaignLine, locale: str) -> str:
    return f"{counted(sum(line.counts.values()), 'runs', locale)}: {_pieces(line.counts, locale)}"


def _pieces(counts: dict[str, int], locale: str) -> str:
    said: Sequence[str] = [ngettext(*_COUNTS[key], n, locale) % {"n": decimal(n, 0, locale)} for key in _COUNTS if (n := counts.get(key, 0))]
    return ", ".join(said)


def left(progress: Progress, locale: str) -> str:
    """How long it will still take, or why nobody can say."""
    if progress.remaining is not None:
        return gettext("about %(time)s left", locale) % {"time": duration(progress.remaining, locale).replace(" ", NO_BREAK)}
    if progress.unknown is not None:
        return gettext("How long it will take is not known: %(why)s.", locale) % {"why": gettext(progress.unknown, locale)}
    return ""
