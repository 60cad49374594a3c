"""The order form, drawn from what live runners offer."""

import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from app.access.principal import Principal, Submitter
from app.domain.catalogue import Part
from app.domain.spec import GENERATIONS, RunSpec
from app.errors import AppError
from app.reports.format import counted, decimal
from app.reports.loads import spoken
from app.reports.translate import gettext, language_name, ngettext
from app.reports.words import mark
from app.runners_registry.schemas import Catalogue
from app.runners_registry.service import Registry, registry_service
from app.runs.service import Runs, runs_service
from app.statistics.reasons import FEWEST_TRIAL_PAIRS, PAIRS_PER_BLOCK
from app.statistics.verdict import FEWEST_PROMPTS
from app.web.command import submit_line
from app.web.order import ENGINE, HOW_LONG, LIMIT, LOAD, SAMPLING, Order, key_of, place, prompts_of, read
from app.web.preferences import locale_of
from app.web.render import fragment, page
from app.web.schema_form import Field, fields

router = APIRouter(include_in_schema=False)
CatalogueService = Annotated[Registry, Depends(registry_service)]


@dataclass(frozen=True)
class Option:
    """A part that can be chosen, with the fields of its parameters."""

    value: str
    title: str
    summary: str
    fields: tuple[Field, ...]
    chosen: bool


@router.get("/submit")
async def form_page(request: Request, registry: CatalogueService) -> Response:
    catalogue = await registry.catalogue()
    typed = {name: value for name, value in request.query_params.items() if name != "lang"}
    return page(request, "submit.html", **view(catalogue, _defaults(catalogue) | typed, [], [], {}, locale_of(request)))


@router.post("/submit")
async def submit(request: Request, principal: Submitter, registry: CatalogueService, runs: Annotated[Runs, Depends(runs_service)]) -> Response:
    locale, catalogue = locale_of(request), await registry.catalogue()
    typed, also, profiles = _typed(await request.form())
    order = read(typed, also, profiles, catalogue, locale)
    errors = dict(order.errors)
    if not errors:
        try:
            made = [await _queue(spec, runs, principal, typed) for spec in order.specs]
            return RedirectResponse(f"/runs/{made[0]}" if len(made) == 1 else f"/compare?runs={','.join(map(str, made))}", status_code=303)
        except AppError as refusal:
            errors = _errors(refusal)
    return page(request, "submit.html", status=422, **view(catalogue, typed, also, profiles, errors, locale))


@router.post("/submit/preview")
async def preview(request: Request, registry: CatalogueService) -> Response:
    """What the form would do as it stands; an unfinished form is no error here."""
    locale, catalogue = locale_of(request), await registry.catalogue()
    typed, also, profiles = _typed(await request.form())
    order = read(typed, also, profiles, catalogue, locale)
    return Response(fragment("_order.html", locale, order=summary(order, catalogue, locale)), media_type="text/html")


async def _queue(spec: RunSpec, runs: Runs, principal: Principal, typed: Mapping[str, str]) -> int:
    # The key lies in the form, so a second click on the button makes no second run.
    key = f"form-{typed.get('key') or secrets.token_hex(8)}-{spec.language}"
    run, _ = await runs.submit(spec, principal=principal, idempotency_key=key)
    return run.id


def _typed(form: FormData) -> tuple[dict[str, str], list[str], list[str]]:
    texts = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    return texts, [v for v in form.getlist("also") if isinstance(v, str)], [v for v in form.getlist("profiles") if isinstance(v, str)]


def _errors(refusal: AppError) -> dict[str, str]:
    """A refusal of the service at the field that it names; what it does not place stands at the top."""
    found = {place(item.get("pointer", "").lstrip("/").replace("/", ".")): item["detail"] for item in refusal.fields}
    return found or {"": refusal.detail}


def _drafters(catalogue: Catalogue) -> list[Part]:
    return [part for part in catalogue.drafters if part.name != "none"]


def _defaults(catalogue: Catalogue) -> dict[str, str]:
    """The first of each kind. Language and tokenizer have no default: without them a figure means nothing."""
    firsts = {
        "model": [key_of(m) for m in catalogue.models],
        "drafter": [p.name for p in _drafters(catalogue)],
        "controller": sorted((p.name for p in catalogue.controllers), key=lambda name: name != "constant"),
        "verifier": sorted((p.name for p in catalogue.verifiers), key=lambda name: name != "exact"),
        "suite": [s.id for s in catalogue.suites],
    }
    return {name: values[0] for name, values in firsts.items() if values}


def view(
    catalogue: Catalogue, typed: Mapping[str, str], also: Sequence[str], profiles: Sequence[str], errors: Mapping[str, str], locale: str
) -> dict[str, Any]:
    """Everything typed comes back; the key is new, since a corrected form is another order."""
    order = read(typed, also, profiles, catalogue, locale)
    languages = sorted({tag for suite in catalogue.suites for tag in suite.languages}, key=lambda tag: (tag != "ru", tag))

    def parts(kind: str, found: Sequence[Part]) -> list[Option]:
        def params(part: Part) -> tuple[Field, ...]:
            return tuple(fields(f"{kind}.{part.name}.", part.schema_, typed, errors, locale))

        return [Option(p.name, p.name, gettext(p.summary, locale), params(p), typed.get(kind) == p.name) for p in found]

    drafters, controllers = parts("drafter", _drafters(catalogue)), parts("controller", catalogue.controllers)
    verifiers = parts("verifier", catalogue.verifiers)
    engine = fields("", ENGINE, typed, errors, locale)
    limit, load = fields("", LIMIT, typed, errors, locale)[0], fields("", LOAD, typed, errors, locale)
    sampling, how_long = fields("", SAMPLING, typed, errors, locale), fields("", HOW_LONG, typed, errors, locale)
    drawn = [*(f for option in (*drafters, *controllers, *verifiers) for f in option.fields), *engine, limit, *load, *sampling, *how_long]
    return {
        "catalogue": catalogue,
        "models": [Option(key_of(m), key_of(m).partition(":")[2], m.licence or "", (), typed.get("model") == key_of(m)) for m in catalogue.models],
        "dtypes": list(dict.fromkeys(dtype for m in catalogue.models for dtype in m.dtypes)),
        "engine": engine,
        "drafters": drafters,
        "controllers": controllers,
        "suites": catalogue.suites,
        "languages": [(tag, language_name(tag, locale), tag in also) for tag in languages],
        "tokenizers": sorted({m.tokenizer for m in catalogue.models}),
        "limit": limit,
        "load": load,
        "verifiers": verifiers,
        "sampling": sampling,
        "how_long": how_long,
        "typed": defaultdict(str, typed),
        "profiles": profiles,
        "errors": defaultdict(str, errors),
        "problems": problems(errors, drawn),
        "order": summary(order, catalogue, locale),
        "key": secrets.token_hex(8),
    }


_ORDER = (
    "", "model", *ENGINE["properties"], "drafter", "controller", "language", "tokenizer", "suite", "limit", *LOAD["properties"], *SAMPLING["properties"], "verifier",
    *HOW_LONG["properties"],
)  # fmt: skip


def problems(errors: Mapping[str, str], drawn: Sequence[Field]) -> list[tuple[str, str]]:
    """(anchor, sentence) in the order of the form; a number's own error does not name its field, so its label goes before."""
    labels = {field.name: field.label for field in drawn}
    found = [(name, f"{labels[name]}: {text}" if name in labels else text) for name, text in errors.items()]
    return sorted(found, key=lambda item: _ORDER.index(first) if (first := item[0].split(".")[0]) in _ORDER else len(_ORDER))


def summary(order: Order, catalogue: Catalogue, locale: str) -> dict[str, Any]:
    """What will be compared, what it will be able to say, and the same from a terminal."""
    if not order.specs:
        return {"sentence": gettext("The form is not complete yet.", locale), "size": "", "claims": [], "lines": [], "count": 0}
    first = order.specs[0]
    words = {
        "drafter": first.drafter.name,
        "languages": gettext(" and ", locale).join(spec.language for spec in order.specs),
        "runs": counted(len(order.specs), "runs", locale),
    }
    load = first.load.concurrency
    at = ngettext("at %(n)s request at a time", "at %(n)s requests at a time", load, locale) % {"n": decimal(load, 0, locale)}
    if first.load.rate is not None:
        at = gettext("under the load “%(load)s”", locale) % {"load": spoken(first.load, locale)}
    sentence = gettext("This will compare %(drafter)s with plain decoding in %(languages)s, %(at)s: %(runs)s.", locale) % (words | {"at": at})
    prompts = prompts_of(first, catalogue.suites)
    size = gettext("%(prompts)s × %(blocks)s of two plain and two speculative passes, %(tokens)s an answer.", locale) % {
        "prompts": gettext("the chosen prompts", locale) if prompts is None else counted(prompts, "prompts", locale),
        "blocks": counted(first.trials, "blocks", locale),
        "tokens": counted(first.max_new_tokens, "tokens", locale),
    }
    lines = [submit_line(spec) for spec in order.specs]
    return {"sentence": sentence, "size": size, "claims": _claims(order, prompts, locale), "lines": lines, "count": len(lines)}


def lacking_for_speed(spec: RunSpec, prompts: int | None) -> str | None:
    """What a verdict on speed would lack (definitions § 4); None where it may come."""
    if spec.load.regime == "single":
        return mark("no verdict on speed: fewer than 8 prompts") if prompts is not None and prompts < FEWEST_PROMPTS else None
    if spec.load.regime == "closed" and prompts is not None and prompts < GENERATIONS * spec.load.concurrency:
        return mark("no verdict on speed: fewer than three prompts for each request at a time")
    return mark("no verdict on speed: fewer than 4 trial pairs") if PAIRS_PER_BLOCK * spec.trials < FEWEST_TRIAL_PAIRS else None


def _claims(order: Order, prompts: int | None, locale: str) -> list[tuple[bool, str]]:
    lacking, pair = lacking_for_speed(order.specs[0], prompts), len(order.specs) > 1
    speed = lacking or mark("speed-up: the plain arm is included")
    languages = mark("languages against each other, on parallel prompts") if pair else mark("one language against another: check a second one")
    return [
        (True, gettext("acceptance: language and tokenizer are given", locale)),
        (lacking is None, gettext(speed, locale)),
        (pair, gettext(languages, locale)),
        (False, gettext("until what load it pays: one load level cannot show it", locale)),
    ]
