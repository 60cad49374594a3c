"""Probes: what a model says without a part of it, and what acceptance follows, before anything is drafted."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from app.access.principal import Submitter
from app.domain.probe import FEWEST_TOKENS, LONGEST_TEXT, ProbeSpec
from app.domain.spec import NAMED_IN
from app.domain.status import FINAL
from app.errors import AppError
from app.probes.routes import shown
from app.probes.schemas import ProbeFilter, ProbeLine, ProbeOut
from app.probes.service import Probes, probes_service
from app.reports.format import decimal
from app.reports.probe_words import beside_table, question, told
from app.reports.retold import retell
from app.reports.translate import gettext
from app.reports.words import state_of
from app.runners_registry.service import Registry, registry_service
from app.runs.service import Runs, runs_service
from app.web.preferences import locale_of
from app.web.render import page

router = APIRouter(include_in_schema=False)
Service = Annotated[Probes, Depends(probes_service)]
Runners = Annotated[Registry, Depends(registry_service)]
EMPTY = {"model": "", "languages": "ru, en", "count": "4", "kind": "last"}


@router.get("/probes")
async def probes_page(request: Request, probes: Service, runners: Runners, filter: Annotated[ProbeFilter, Depends()]) -> Response:
    return page(request, "probes.html", **await listed(probes, runners, filter, locale_of(request), EMPTY, ""))


@router.post("/probes")
async def submit(request: Request, principal: Submitter, probes: Service, runners: Runners) -> Response:
    locale = locale_of(request)
    typed = EMPTY | {name: text for name, text in (await request.form()).items() if isinstance(text, str)}
    try:
        made, _ = await probes.submit(await spec_of(typed, runners), principal=principal)
        return RedirectResponse(f"/probes/{made.id}", status_code=303)
    except ValidationError:
        wrong = gettext("Choose a model, name languages by their tags, such as ru, en, and say how many layers are left out: 1 or more.", locale)
    except AppError as refusal:
        wrong = retell(refusal.detail, locale)
    return page(request, "probes.html", status=422, **await listed(probes, runners, ProbeFilter(), locale, typed, wrong))


@router.get("/probes/{probe}")
async def probe_page(probe: int, request: Request, probes: Service, runs: Annotated[Runs, Depends(runs_service)]) -> Response:
    return page(request, "probe.html", **view(await shown(probe, probes, runs), locale_of(request)))


@router.post("/probes/{probe}/cancel")
async def cancel(probe: int, principal: Submitter, probes: Service) -> Response:
    await probes.cancel(probe, principal=principal)
    return RedirectResponse(f"/probes/{probe}", status_code=303)


async def spec_of(typed: Mapping[str, str], runners: Registry) -> ProbeSpec:
    """The tokenizer is the one that is offered with the chosen model. Raises ValidationError."""
    models = (await runners.catalogue()).models
    chosen = next((each for each in models if f"{each.source}:{each.name}" == typed["model"]), None)
    source: dict[str, Any] = (
        {} if chosen is None else {"source": chosen.source, NAMED_IN[chosen.source]: chosen.name, "file": chosen.file, "revision": chosen.revision}
    )
    ablation = {"kind": "component"} if typed["kind"] == "component" else {"kind": "last", "count": typed["count"]}
    languages = [tag for tag in typed["languages"].replace(",", " ").split() if tag]
    tokenizer = "" if chosen is None else chosen.tokenizer
    return ProbeSpec.model_validate({"model": source, "languages": languages, "tokenizer": tokenizer, "ablation": ablation})


async def listed(probes: Probes, runners: Registry, filter: ProbeFilter, locale: str, typed: Mapping[str, str], wrong: str) -> dict[str, Any]:
    found = await probes.page(filter)
    models = (await runners.catalogue()).models
    return {
        "rows": [_row(line, locale) for line in found.items],
        "next": f"/probes?cursor={found.next_cursor}" if found.next_cursor else None,
        "models": [(f"{each.source}:{each.name}", each.name) for each in models],
        "typed": dict(typed),
        "problems": [("model", wrong)] if wrong else [],
        "twin": "/api/v1/probes",
        "fewest": decimal(FEWEST_TOKENS, 0, locale),
    }


def _row(line: ProbeLine, locale: str) -> tuple[ProbeLine, str, str]:
    return line, question(line.spec, locale), state_of(line.state, locale)


def view(found: ProbeOut, locale: str) -> dict[str, Any]:
    """Everything that the page of a probe prints, in words."""
    seen = found.found
    return {
        "probe": found,
        "question": question(found.spec, locale),
        "state": state_of(found.state, locale),
        "final": found.state in FINAL,
        "languages": [told(each, locale) for each in found.languages],
        "beside": beside_table(found.beside, locale) if found.beside else None,
        "other_text": any(not each.same_text for each in found.beside),
        "terms": []
        if seen is None
        else [
            (gettext("target", locale), f"{seen.target} {seen.quantisation or seen.dtype}"),
            (gettext("tokenizer", locale), seen.tokenizer.short),
            (gettext("prompts", locale), f"{found.spec.suite} {seen.suite_version}"),
            (gettext("layers", locale), decimal(seen.layers, 0, locale)),
            (gettext("engine", locale), seen.engine_version),
            (gettext("hardware", locale), seen.environment.device),
        ],
        "longest": decimal(LONGEST_TEXT, 0, locale),
        "twin": f"/api/v1/probes/{found.id}",
    }
