"""Probes: what a model says without a part of it, and what acceptance follows, before anything is drafted."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from app.access.principal import Submitter
from app.domain.probe import FEWEST_TOKENS, LONGEST_TEXT, ProbeSpec
from app.domain.spec import NAMED_IN
from app.domain.status import FINAL, RunState
from app.errors import AppError
from app.line.schemas import WaitingProbe
from app.line.service import Line, line_service
from app.probes.routes import shown
from app.probes.schemas import ProbeFilter, ProbeLine, ProbeOut
from app.probes.service import Probes, probes_service
from app.reports.format import decimal
from app.reports.probe_words import beside_table, question, told
from app.reports.retold import retell
from app.reports.translate import gettext
from app.reports.words import mark, state_of
from app.runners_registry.service import Registry, registry_service
from app.runs.service import Runs, runs_service
from app.web.preferences import locale_of
from app.web.probe_view import outlook, terms
from app.web.render import page

router = APIRouter(include_in_schema=False)
Service = Annotated[Probes, Depends(probes_service)]
Runners = Annotated[Registry, Depends(registry_service)]
Waits = Annotated[Line, Depends(line_service)]
EMPTY = {"model": "", "languages": "ru, en", "count": "4", "kind": "last", "tokenizer": ""} | {
    name: str(ProbeSpec.model_fields[name].default) for name in ("suite", "limit")
}
# By the field of the form: what is wrong with it, whatever that was.
WRONG = {
    "model": mark("Choose a model."),
    "languages": mark("Name languages by their tags, such as ru, en, 8 at most and each once."),
    "count": mark("Say how many layers are left out: 1 to 511."),
    "tokenizer": mark("Name a tokenizer, or leave the field empty for the one that is offered with the model."),
    "suite": mark("Name a suite that comes with the runners, such as parallel-v2."),
    "limit": mark("Say how many prompts of each language are read: 1 to 1000."),
}
FIELDS = {"ablation": "count"}
Problem = tuple[str, str]


@router.get("/probes")
async def probes_page(request: Request, probes: Service, runners: Runners, filter: Annotated[ProbeFilter, Depends()]) -> Response:
    return page(request, "probes.html", **await listed(probes, runners, filter, locale_of(request), EMPTY, []))


@router.post("/probes")
async def submit(request: Request, principal: Submitter, probes: Service, runners: Runners) -> Response:
    locale = locale_of(request)
    typed = EMPTY | {name: text for name, text in (await request.form()).items() if isinstance(text, str)}
    try:
        made, _ = await probes.submit(await spec_of(typed, runners), principal=principal)
        return RedirectResponse(f"/probes/{made.id}", status_code=303)
    except ValidationError as error:
        wrong = of_fields([str(each["loc"][0]) if each["loc"] else "languages" for each in error.errors()], locale)
    except AppError as refusal:
        named = [each["pointer"].lstrip("/").partition("/")[0] for each in refusal.fields if each.get("pointer")]
        wrong = [(FIELDS.get(named[0], named[0]) if named else "model", retell(refusal.detail, locale))]
    return page(request, "probes.html", status=422, **await listed(probes, runners, ProbeFilter(), locale, typed, wrong))


@router.get("/probes/{probe}")
async def probe_page(probe: int, request: Request, probes: Service, runs: Annotated[Runs, Depends(runs_service)], line: Waits) -> Response:
    found = await shown(probe, probes, runs)
    waiting = await line.probe(found.id, found.created_at, found.spec) if found.state == RunState.QUEUED else None
    return page(request, "probe.html", **view(found, waiting, locale_of(request)))


@router.post("/probes/{probe}/repeat")
async def repeat(probe: int, principal: Submitter, probes: Service) -> Response:
    """The same probe once more, as a new one."""
    made, _ = await probes.submit((await probes.get(probe)).spec, principal=principal)
    return RedirectResponse(f"/probes/{made.id}", status_code=303)


@router.post("/probes/{probe}/cancel")
async def cancel(probe: int, principal: Submitter, probes: Service) -> Response:
    await probes.cancel(probe, principal=principal)
    return RedirectResponse(f"/probes/{probe}", status_code=303)


async def spec_of(typed: Mapping[str, str], runners: Registry) -> ProbeSpec:
    """Without a tokenizer it is the one that is offered with the chosen model. Raises ValidationError."""
    models = (await runners.catalogue()).models
    chosen = next((each for each in models if f"{each.source}:{each.name}" == typed["model"]), None)
    source: dict[str, Any] = (
        {} if chosen is None else {"source": chosen.source, NAMED_IN[chosen.source]: chosen.name, "file": chosen.file, "revision": chosen.revision}
    )
    ablation = {"kind": "component"} if typed["kind"] == "component" else {"kind": "last", "count": typed["count"]}
    languages = [tag for tag in typed["languages"].replace(",", " ").split() if tag]
    tokenizer = typed["tokenizer"].strip() or ("" if chosen is None else chosen.tokenizer)
    given = {name: typed[name].strip() for name in ("suite", "limit") if typed[name].strip()}
    return ProbeSpec.model_validate({"model": source, "languages": languages, "tokenizer": tokenizer, "ablation": ablation} | given)


def of_fields(names: Sequence[str], locale: str) -> list[Problem]:
    """A sentence for each field of a spec that is wrong; of a model that was not chosen alone, since its tokenizer is then unknown too."""
    fields = list(dict.fromkeys(FIELDS.get(name, name) for name in names))
    return [(name, gettext(WRONG[name], locale)) for name in fields if name in WRONG and not (name == "tokenizer" and "model" in fields)]


async def listed(
    probes: Probes, runners: Registry, filter: ProbeFilter, locale: str, typed: Mapping[str, str], wrong: Sequence[Problem]
) -> dict[str, Any]:
    found = await probes.page(filter)
    models = (await runners.catalogue()).models
    return {
        "rows": [_row(line, locale) for line in found.items],
        "next": f"/probes?cursor={found.next_cursor}" if found.next_cursor else None,
        "models": [(f"{each.source}:{each.name}", each.name) for each in models],
        "typed": dict(typed),
        "problems": list(wrong),
        "twin": "/api/v1/probes",
        "fewest": decimal(FEWEST_TOKENS, 0, locale),
    }


def _row(line: ProbeLine, locale: str) -> tuple[ProbeLine, str, str]:
    return line, question(line.spec, locale), state_of(line.state, locale)


def view(found: ProbeOut, waiting: WaitingProbe | None, locale: str) -> dict[str, Any]:
    """Everything that the page of a probe prints, in words."""
    return outlook(found, waiting, locale) | {
        "probe": found,
        "question": question(found.spec, locale),
        "state": state_of(found.state, locale),
        "final": found.state in FINAL,
        "languages": [told(each, locale) for each in found.languages],
        "beside": beside_table(found.beside, locale) if found.beside else None,
        "other_text": any(not each.same_text for each in found.beside),
        "terms": terms(found, found.found, locale),
        "longest": decimal(LONGEST_TEXT, 0, locale),
        "twin": f"/api/v1/probes/{found.id}",
    }
