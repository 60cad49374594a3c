"""Two or more runs side by side: the answer, where the passports differ, and only then the figures."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from app.comparisons.routes import attached
from app.comparisons.schemas import Asked, asked, too_few
from app.comparisons.service import Comparisons, comparisons_service
from app.domain.status import FINAL
from app.reports.pairing import weight
from app.runs.schemas import RunSummary
from app.runs.service import FactsGone, Runs, runs_service
from app.web import progress
from app.web.comparison import natural, view
from app.web.pages.runs import row
from app.web.preferences import locale_of
from app.web.render import page
from app.web.standalone import standalone

router = APIRouter(include_in_schema=False)
What = Annotated[Asked, Depends(asked)]
Service = Annotated[Comparisons, Depends(comparisons_service)]


@router.get("/compare")
async def compare_page(request: Request, what: What, comparisons: Service, runs: Annotated[Runs, Depends(runs_service)]) -> Response:
    """Every comparison has one address: of the runs only the first has a place, and a choice that is the usual one is not in it."""
    if len(what.runs) < 2:
        return page(request, "compare_choose.html", chosen=what.runs, lacking=too_few(what.runs) if what.runs else "")
    states = [await runs.get(run) for run in what.runs]
    own = (_of_list(what, states) if len(request.query_params.getlist("runs")) > 1 else what).canonical()
    if own.query() != what.query() or len(request.query_params.getlist("runs")) > 1:
        return RedirectResponse(own.address(), status_code=303)
    locale = locale_of(request)
    if any(run.state not in FINAL for run in states):
        return page(request, "compare_wait.html", **waiting(states, own, locale))
    try:
        found = await comparisons.compare(own.runs, own.load)
    except FactsGone as error:
        return page(request, "compare_gone.html", status=error.status, rows=[row(run, locale) for run in states])
    return page(request, "compare.html", **view(found, own, locale))


@router.get("/compare.html")
async def compare_file(request: Request, what: What, comparisons: Service) -> Response:
    """The page as one file that needs no network."""
    found = await comparisons.compare(what.runs, what.load)
    return await standalone(request, "compare.html", attached(found, "html"), **view(found, what.canonical(), locale_of(request)))


def _of_list(what: Asked, states: Sequence[RunSummary]) -> Asked:
    """Runs that were checked in a list are in the list's order, which means nothing."""
    return replace(what, runs=tuple(natural([(run.id, run.spec.language, weight(run.spec.load)) for run in states])))


def waiting(states: Sequence[RunSummary], what: Asked, locale: str) -> dict[str, Any]:
    """Each run's progress, while there is nothing to compare yet."""
    rows = [(run, None if run.state in FINAL else progress.show(run, locale)) for run in states]
    return {"rows": rows, "ids": what.runs, "permalink": what.address(), "left": sum(shown is not None for _, shown in rows)}
