"""The order form, drawn from what live runners offer."""

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import ImmutableMultiDict

from app.access.principal import Submitter
from app.campaigns.forecast import Expected
from app.domain.catalogue import Part
from app.domain.spec import RunSpec
from app.errors import AppError
from app.reports.retold import retell
from app.reports.translate import gettext, language_name
from app.runners_registry.schemas import Catalogue
from app.runners_registry.service import Registry, registry_service
from app.runs.campaigns import Campaigns, campaigns_service
from app.runs.relatives import Relatives, relatives_service
from app.runs.service import Runs, runs_service
from app.web import engine_words
from app.web.estimate import expectation
from app.web.order import ENGINE, HOW_LONG, LABELS, LIMIT, LOAD, SAMPLING, Also, Order, engine_of, key_of, load_for, place, read, sampling_for
from app.web.order_words import named, summary
from app.web.preferences import locale_of
from app.web.render import fragment, page
from app.web.schema_form import Field, fields

router = APIRouter(include_in_schema=False)
# Powers of two, as serving is usually swept.
CONCURRENCIES = (1, 2, 4, 8, 16)
SIMPLEST = "ngram"
CatalogueService = Annotated[Registry, Depends(registry_service)]
Past = Annotated[Relatives, Depends(relatives_service)]


@dataclass(frozen=True)
class Option:
    """A part that can be chosen, with the fields of its parameters."""

    value: str
    title: str
    summary: str
    fields: tuple[Field, ...]
    chosen: bool


@router.get("/submit")
async def form_page(request: Request, registry: CatalogueService, past: Past) -> Response:
    """Whatever the address says is filled in."""
    locale, catalogue = locale_of(request), await registry.catalogue()
    typed, also, profiles = _typed(request.query_params)
    typed = {name: value for name, value in typed.items() if name not in {"lang", "key"}}
    typed, also = settled(typed, also, catalogue)
    order = read(typed, also, profiles, catalogue, locale)
    took = await expectation(order, catalogue, registry, past)
    return page(request, "submit.html", **view(catalogue, typed, also, profiles, {}, order, took, locale))


@router.post("/submit")
async def submit(
    request: Request,
    principal: Submitter,
    registry: CatalogueService,
    runs: Annotated[Runs, Depends(runs_service)],
    campaigns: Annotated[Campaigns, Depends(campaigns_service)],
    past: Past,
) -> Response:
    locale, catalogue = locale_of(request), await registry.catalogue()
    typed, also, profiles = _typed(await request.form())
    order = read(typed, also, profiles, catalogue, locale)
    errors = dict(order.errors)
    if not errors:
        title = named(order.specs, locale)
        key = form_key(typed.get("key", ""), title, order.specs)
        try:
            if len(order.specs) == 1:
                run, _ = await runs.submit(order.specs[0], principal=principal, idempotency_key=key)
                return RedirectResponse(f"/runs/{run.id}", status_code=303)
            campaign, _ = await campaigns.submit(title, order.specs, principal=principal, idempotency_key=key)
            return RedirectResponse(f"/campaigns/{campaign}", status_code=303)
        except AppError as refusal:
            errors = _errors(refusal, locale)
    took = await expectation(order, catalogue, registry, past)
    return page(request, "submit.html", status=422, **view(catalogue, typed, also, profiles, errors, order, took, locale))


def form_key(nonce: str, title: str, specs: Sequence[RunSpec]) -> str:
    """The form's nonce with what it asks for: a second click on the button makes nothing new, and a form that was changed after the browser's Back
    is another order."""
    said = "\n".join([nonce or secrets.token_hex(8), title, *(spec.digest() for spec in specs)])
    return f"form-{hashlib.sha256(said.encode()).hexdigest()}"


@router.post("/submit/preview")
async def preview(request: Request, registry: CatalogueService, past: Past) -> Response:
    """What the form would do as it stands; an unfinished form is no error here."""
    locale, catalogue = locale_of(request), await registry.catalogue()
    typed, also, profiles = _typed(await request.form())
    order = read(typed, also, profiles, catalogue, locale)
    took = await expectation(order, catalogue, registry, past)
    return Response(fragment("_order.html", locale, order=summary(order, catalogue, took, locale)), media_type="text/html")


def _typed(form: ImmutableMultiDict[str, Any]) -> tuple[dict[str, str], Also, list[str]]:
    def checked(name: str) -> list[str]:
        return list(dict.fromkeys(value for value in form.getlist(name) if isinstance(value, str)))

    texts = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    concurrencies = tuple(int(text) for text in checked("also_concurrency") if text in map(str, CONCURRENCIES))
    return texts, Also(tuple(checked("also")), tuple(checked("also_drafter")), concurrencies), checked("profiles")


def _errors(refusal: AppError, locale: str) -> dict[str, str]:
    """A refusal of the service at the field that it names; what it does not place stands at the top."""
    found = {place(item.get("pointer", "").lstrip("/").replace("/", ".")): retell(item["detail"], locale) for item in refusal.fields}
    return found or {"": retell(refusal.detail, locale)}


def _drafters(catalogue: Catalogue) -> list[Part]:
    return [part for part in catalogue.drafters if part.name != "none"]


def defaults(catalogue: Catalogue) -> dict[str, str]:
    """The first of each kind. Language and tokenizer have no default: without them a figure means nothing."""
    firsts = {
        "model": [key_of(m) for m in catalogue.models],
        # One that needs nothing: no model of its own, no form of the target.
        "drafter": sorted((p.name for p in _drafters(catalogue)), key=lambda name: name != SIMPLEST),
        "controller": sorted((p.name for p in catalogue.controllers), key=lambda name: name != "constant"),
        "verifier": sorted((p.name for p in catalogue.verifiers), key=lambda name: name != "exact"),
        "suite": [s.id for s in catalogue.suites],
    }
    return {name: values[0] for name, values in firsts.items() if values} | _second_models(catalogue)


def settled(typed: Mapping[str, str], also: Also, catalogue: Catalogue) -> tuple[dict[str, str], Also]:
    """What was filled in for one engine, for another: what that one does not have falls back on its defaults. What none has stays, and is told."""
    here = catalogue.on(engine_of(typed, catalogue))
    every = [catalogue.on(name) for name in catalogue.engines]
    first, gone = defaults(here), {kind: _names(kind, *every) - _names(kind, here) for kind in _CHOSEN}
    kept = {name: value for name, value in typed.items() if value not in gone.get(name, ())}
    dtypes = [dtype for model in here.models for dtype in model.dtypes]
    if dtypes and "auto" not in dtypes and kept.get("dtype", "auto") == "auto":
        # A server that runs already has no type that a runner chooses.
        kept["dtype"] = dtypes[0]
    return first | kept, replace(also, drafters=tuple(name for name in also.drafters if name not in gone["drafter"]))


_CHOSEN = ("model", "drafter", "controller", "verifier")


def _names(kind: str, *catalogues: Catalogue) -> set[str]:
    if kind == "model":
        return {key_of(model) for catalogue in catalogues for model in catalogue.models}
    return {part.name for catalogue in catalogues for part in getattr(catalogue, f"{kind}s")}


def _second_models(catalogue: Catalogue) -> dict[str, str]:
    """For drafters that cannot do without a model of their own: another one than the target, of the same tokenizer, where runners offer one."""
    first = next(iter(catalogue.models), None)
    others = [key_of(m) for m in catalogue.models[1:] if first is not None and m.tokenizer == first.tokenizer]
    asking = [part.name for part in _drafters(catalogue) if "model" in part.schema_.get("required", ())]
    return {f"drafter.{name}.model": others[0] for name in asking if others}


def parameters(prefix: str, part: Part, catalogue: Catalogue, typed: Mapping[str, str], errors: Mapping[str, str], locale: str) -> tuple[Field, ...]:
    """The fields of a part. One that takes a model of its own (`model`) is offered those that runners have, by their names on this form."""
    models = tuple(key_of(model) for model in catalogue.models)
    made = fields(prefix, part.schema_, typed, errors, locale)
    return tuple(replace(each, suggestions=models) if each.name == f"{prefix}model" else each for each in made)


def _engines(catalogue: Catalogue, chosen: str, locale: str) -> list[Option]:
    return [Option(name, name, engine_words.summary(name, catalogue.at(name), locale), (), name == chosen) for name in catalogue.engines]


def _known_labels(catalogue: Catalogue) -> tuple[str, ...]:
    live = [runner for runner in catalogue.runners if runner.state != "offline"]
    return tuple(sorted({f"{name}={value}" for runner in live for name, value in runner.labels.items()}))


def view(
    catalogue: Catalogue,
    typed: Mapping[str, str],
    also: Also,
    profiles: Sequence[str],
    errors: Mapping[str, str],
    order: Order,
    took: Expected | None,
    locale: str,
) -> dict[str, Any]:
    """Everything typed comes back, and a nonce with it."""
    chosen = engine_of(typed, catalogue)
    served, engines = catalogue.at(chosen), _engines(catalogue, chosen, locale)
    catalogue, alive = catalogue.on(chosen), bool(catalogue.models)
    languages = sorted({tag for suite in catalogue.suites for tag in suite.languages}, key=lambda tag: (tag != "ru", tag))

    def parts(kind: str, found: Sequence[Part]) -> list[Option]:
        def params(part: Part) -> tuple[Field, ...]:
            return parameters(f"{kind}.{part.name}.", part, catalogue, typed, errors, locale)

        return [Option(p.name, p.name, gettext(p.summary, locale), params(p), typed.get(kind) == p.name) for p in found]

    drafters, controllers = parts("drafter", _drafters(catalogue)), parts("controller", catalogue.controllers)
    verifiers = parts("verifier", catalogue.verifiers)
    engine = [] if served else fields("", ENGINE, typed, errors, locale)
    limit, load = fields("", LIMIT, typed, errors, locale)[0], fields("", load_for(catalogue), typed, errors, locale)
    labels = replace(fields("", LABELS, typed, errors, locale)[0], suggestions=_known_labels(catalogue))
    sampling, how_long = fields("", sampling_for(served), typed, errors, locale), fields("", HOW_LONG, typed, errors, locale)
    drawn = [*(f for option in (*drafters, *controllers, *verifiers) for f in option.fields), *engine, limit, *load, labels, *sampling, *how_long]
    return {
        "alive": alive,
        "engines": engines if len(engines) > 1 or errors.get("engine") else [],
        "served": served,
        "about_engine": engine_words.summary(chosen, served, locale),
        "models": [Option(key_of(m), key_of(m).partition(":")[2], m.licence or "", (), typed.get("model") == key_of(m)) for m in catalogue.models],
        "dtypes": list(dict.fromkeys(dtype for m in catalogue.models for dtype in m.dtypes)),
        "engine": engine,
        "drafters": drafters,
        "controllers": controllers,
        "suites": catalogue.suites,
        "languages": [(tag, language_name(tag, locale), tag in also.languages) for tag in languages],
        "also_drafters": [(part.name, part.name in also.drafters) for part in _drafters(catalogue)],
        "concurrencies": [(n, n in also.concurrencies) for n in CONCURRENCIES if n <= (catalogue.max_concurrency or n)],
        "tokenizers": sorted({m.tokenizer for m in catalogue.models}),
        "limit": limit,
        "load": load,
        "labels": labels,
        "verifiers": verifiers,
        "sampling": sampling,
        "how_long": how_long,
        "typed": defaultdict(str, typed),
        "profiles": profiles,
        "errors": defaultdict(str, errors),
        "problems": problems(errors, drawn),
        "order": summary(order, catalogue, took, locale),
        "key": secrets.token_hex(8),
    }


_ORDER = (
    "", "engine", "model", *ENGINE["properties"], "drafter", "controller", "language", "tokenizer", "suite", "limit", *LOAD["properties"],
    *SAMPLING["properties"], "verifier", *HOW_LONG["properties"], *LABELS["properties"],
)  # fmt: skip


# Fields of the template that no schema draws.
_WRITTEN = frozenset({"engine", "model", "drafter", "controller", "language", "tokenizer", "suite", "verifier"})


def problems(errors: Mapping[str, str], drawn: Sequence[Field]) -> list[tuple[str, str]]:
    """(anchor, sentence) in the order of the form; a number's own error does not name its field, so its label goes before. What no field of the
    form stands for leads nowhere and names what it is about."""
    labels = {field.name: field.label for field in drawn}
    found = [(name, f"{labels[name]}: {text}" if name in labels else text) for name, text in errors.items()]
    found = [(name, text) if name in labels or name in _WRITTEN else ("", f"{name}: {text}" if name else text) for name, text in found]
    return sorted(found, key=lambda item: _ORDER.index(first) if (first := item[0].split(".")[0]) in _ORDER else len(_ORDER))
