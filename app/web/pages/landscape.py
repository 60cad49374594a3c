"""Published claims beside what was measured here: two lists that never mix."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from app.access.principal import Submitter
from app.claims.schemas import Claim
from app.claims.service import Claims, claims_service
from app.errors import AppError
from app.landscape.beside import beside
from app.landscape.schemas import Check, Landscape, Row
from app.landscape.service import ENGINES, Board, landscape_service
from app.reports.loads import spoken
from app.reports.retold import retell
from app.reports.translate import gettext
from app.web import claim_words
from app.web.claim_form import read, sentence
from app.web.claims_plot import build
from app.web.pages.languages import Run, run_of, tokenizer_of
from app.web.passport import sampling
from app.web.preferences import locale_of
from app.web.render import page

router = APIRouter(include_in_schema=False)
BoardService = Annotated[Board, Depends(landscape_service)]


@dataclass(frozen=True)
class Line:
    """A claim, what its source says and leaves out, and how it stands against what was measured."""

    claim: Claim
    quantity: str
    value: str
    source: str
    note: str
    carries: str
    lacking: str
    stands: tuple[tuple[str, int], ...]
    runs: tuple[Run, ...]
    unmeasured: str


@dataclass(frozen=True)
class System:
    name: str
    kind: str
    about: str
    claims: int
    runs: tuple[Run, ...]
    unmeasured: str


@router.get("/landscape")
async def landscape_page(request: Request, board: BoardService) -> Response:
    return page(request, "landscape.html", **view(await board.landscape(), {}, {}, locale_of(request)))


@router.post("/landscape")
async def enter(request: Request, principal: Submitter, board: BoardService, claims: Annotated[Claims, Depends(claims_service)]) -> Response:
    typed = {name: text for name, text in (await request.form()).items() if isinstance(text, str)}
    claim, errors = read(typed)
    if claim is not None:
        try:
            made = await claims.enter(claim, principal=principal)
            return RedirectResponse(f"/landscape#claim-{made.id}", status_code=303)
        except AppError as refusal:
            said = retell(refusal.detail, locale_of(request))
            errors = {field: sentence(field) for one in refusal.fields if (field := one.get("pointer", "").lstrip("/"))} or {"": said}
    return page(request, "landscape.html", status=422, **view(await board.landscape(), typed, errors, locale_of(request)))


def view(found: Landscape, typed: Mapping[str, str], errors: Mapping[str, str], locale: str) -> dict[str, Any]:
    lines = [line(claim, row, locale) for row in found.rows for claim in row.system.claims]
    said = {field: gettext(text, locale) for field, text in errors.items()}
    stands = Counter(check.stands for row in found.rows for check in row.checks)
    return {
        "systems": [_system(row, locale) for row in found.rows],
        "checkable": [one for one in lines if not one.claim.refused],
        "refused": [one for one in lines if one.claim.refused],
        "measured": sum(bool(row.measured) for row in found.rows),
        "stands": {name: stands[name] for name in ("inside", "above", "below")},
        "plots": [
            build(found, "speed-up", gettext("What speed-up is claimed, and what was measured?", locale), locale),
            build(found, "acceptance", gettext("What acceptance is claimed, and what was measured?", locale), locale),
        ],
        "kinds": [(kind, gettext(text, locale)) for kind, text in claim_words.KINDS.items()],
        "quantities": [(quantity, gettext(text, locale)) for quantity, text in claim_words.QUANTITIES.items()],
        "typed": defaultdict(str, typed),
        "errors": defaultdict(str, said),
        "problems": list(said.items()),
    }


def line(claim: Claim, row: Row, locale: str) -> Line:
    checks = [check for check in row.checks if check.claim == claim.id]
    return Line(
        claim,
        gettext(claim_words.QUANTITIES[claim.quantity], locale),
        claim_words.value(claim, locale),
        gettext(claim.source, locale),
        "" if claim.note is None else gettext(claim.note, locale),
        claim_words.carries(claim, locale),
        claim_words.lacking(claim, locale),
        tuple((_stands(check, row, locale), check.run) for check in checks),
        _runs(row, locale),
        _unmeasured(row, locale),
    )


def _stands(check: Check, row: Row, locale: str) -> str:
    """With the load of the run, which the claim may not share."""
    said = gettext(claim_words.STANDS[check.stands], locale) % {"run": check.run}
    return said + "".join(f" ({spoken(one.load, locale)})" for one in row.measured if one.run == check.run)


def _system(row: Row, locale: str) -> System:
    system = row.system
    kind = gettext(claim_words.KINDS[system.kind], locale)
    return System(system.name, kind, gettext(system.about, locale), len(system.claims), _runs(row, locale), _unmeasured(row, locale))


def _runs(row: Row, locale: str) -> tuple[Run, ...]:
    """One run of each language and kind of load is enough to stand beside a claim; all are on the page of languages."""
    return tuple(_drawn(run_of(one, tokenizer_of(one), locale), locale) for one in beside(row.measured))


def _drawn(run: Run, locale: str) -> Run:
    """Behind the load how answers were drawn, where they were."""
    return run if run.found.sampling.temperature == 0 else replace(run, load=f"{run.load}, {sampling(run.found.sampling, locale)}")


def _unmeasured(row: Row, locale: str) -> str:
    if row.measured:
        return ""
    if row.system.drafter is None and row.system.kind != ENGINES:
        return gettext("not measured here: there is no such drafter yet", locale)
    return gettext("not measured here yet", locale)
