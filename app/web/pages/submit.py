"""The order form, drawn from what live runners offer."""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from app.access.principal import Submitter
from app.domain.catalogue import Part
from app.domain.spec import GENERATIONS, RunSpec
from app.errors import AppError
from app.reports.format import counted, decimal
from app.reports.loads import brief, spoken
from app.reports.translate import gettext, language_name, ngettext
from app.reports.words import mark
from app.runners_registry.schemas import Catalogue
from app.runners_registry.service import Registry, registry_service
from app.runs.campaigns import Campaigns, campaigns_service
from app.runs.service import Runs, runs_service
from app.statistics.reasons import FEWEST_TRIAL_PAIRS, PAIRS_PER_BLOCK
from app.statistics.verdict import FEWEST_PROMPTS
from app.web.command import submit_line
from app.web.order import ENGINE, HOW_LONG, LIMIT, LOAD, SAMPLING, Also, Order, key_of, place, prompts_of, read
from app.web.preferences import locale_of
from app.web.render import fragment, page
from app.web.schema_form import Field, fields

router = APIRouter(include_in_schema=False)
# Powers of two, as serving is usually swept.
CONCURRENCIES = (1, 2, 4, 8, 16)
FEWEST_LEVELS = 3
MOST_LINES = 4
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
    return page(request, "submit.html", **view(catalogue, _defaults(catalogue) | typed, Also(), [], {}, locale_of(request)))


@router.post("/submit")
async def submit(
    request: Request,
    principal: Submitter,
    registry: CatalogueService,
    runs: Annotated[Runs, Depends(runs_service)],
    campaigns: Annotated[Campaigns, Depends(campaigns_service)],
) -> Response:
    locale, catalogue = locale_of(request), await registry.catalogue()
    typed, also, profiles = _typed(await request.form())
    order = read(typed, also, profiles, catalogue, locale)
    errors = dict(order.errors)
    if not errors:
        # The key lies in the form, so a second click on the button makes nothing new.
        key = f"form-{typed.get('key') or secrets.token_hex(8)}"
        try:
            if len(order.specs) == 1:
                run, _ = await runs.submit(order.specs[0], principal=principal, idempotency_key=key)
                return RedirectResponse(f"/runs/{run.id}", status_code=303)
            campaign, _ = await campaigns.submit(named(order.specs, locale), order.specs, principal=principal, idempotency_key=key)
            return RedirectResponse(f"/campaigns/{campaign}", status_code=303)
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


def named(specs: Sequence[RunSpec], locale: str) -> str:
    """What a campaign is called: its drafters, languages and loads."""
    said = [(spec.drafter.name, spec.language, brief(spec.load, locale)) for spec in specs]
    drafters, languages, loads = (", ".join(dict.fromkeys(names)) for names in zip(*said, strict=True))
    return " · ".join((drafters, languages, gettext("load", locale) + " " + loads))


def _typed(form: FormData) -> tuple[dict[str, str], Also, list[str]]:
    def checked(name: str) -> list[str]:
        return list(dict.fromkeys(value for value in form.getlist(name) if isinstance(value, str)))

    texts = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    concurrencies = tuple(int(text) for text in checked("also_concurrency") if text in map(str, CONCURRENCIES))
    return texts, Also(tuple(checked("also")), tuple(checked("also_drafter")), concurrencies), checked("profiles")


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
    catalogue: Catalogue, typed: Mapping[str, str], also: Also, profiles: Sequence[str], errors: Mapping[str, str], locale: str
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
        "languages": [(tag, language_name(tag, locale), tag in also.languages) for tag in languages],
        "also_drafters": [(part.name, part.name in also.drafters) for part in _drafters(catalogue)],
        "concurrencies": [(n, n in also.concurrencies) for n in CONCURRENCIES],
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
    "", "model", *ENGINE["properties"], "drafter", "controller", "language", "tokenizer", "suite", "limit", *LOAD["properties"],
    *SAMPLING["properties"], "verifier", *HOW_LONG["properties"],
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
    loads = list(dict.fromkeys(spec.load for spec in order.specs))
    load = first.load.concurrency
    at = ngettext("at %(n)s request at a time", "at %(n)s requests at a time", load, locale) % {"n": decimal(load, 0, locale)}
    if first.load.rate is not None or len(loads) > 1:
        at = gettext("under the load “%(load)s”", locale) % {"load": ", ".join(spoken(load, locale) for load in loads)}
    words = {
        "drafter": _joined((spec.drafter.name for spec in order.specs), locale),
        "languages": _joined((spec.language for spec in order.specs), locale),
        "runs": counted(len(order.specs), "runs", locale),
    }
    sentence = gettext("This will compare %(drafter)s with plain decoding in %(languages)s, %(at)s: %(runs)s.", locale) % (words | {"at": at})
    prompts = prompts_of(first, catalogue.suites)
    size = gettext("%(prompts)s × %(blocks)s of two plain and two speculative passes, %(tokens)s an answer.", locale) % {
        "prompts": gettext("the chosen prompts", locale) if prompts is None else counted(prompts, "prompts", locale),
        "blocks": counted(first.trials, "blocks", locale),
        "tokens": counted(first.max_new_tokens, "tokens", locale),
    }
    lines = [submit_line(spec) for spec in order.specs[:MOST_LINES]]
    more = len(order.specs) - len(lines)
    return {
        "sentence": sentence, "size": size, "claims": _claims(order, prompts, locale), "lines": lines, "count": len(order.specs),
        "more": ngettext("and %(n)s line more like these", "and %(n)s lines more like these", more, locale) % {"n": more} if more else "",
    }  # fmt: skip


def _joined(names: Iterable[str], locale: str) -> str:
    return gettext(" and ", locale).join(dict.fromkeys(names))


def lacking_for_speed(spec: RunSpec, prompts: int | None) -> str | None:
    """What a verdict on speed would lack (definitions § 4); None where it may come."""
    if spec.load.regime == "single":
        return mark("no verdict on speed: fewer than 8 prompts") if prompts is not None and prompts < FEWEST_PROMPTS else None
    if spec.load.regime == "closed" and prompts is not None and prompts < GENERATIONS * spec.load.concurrency:
        return mark("no verdict on speed: fewer than three prompts for each request at a time")
    return mark("no verdict on speed: fewer than 4 trial pairs") if PAIRS_PER_BLOCK * spec.trials < FEWEST_TRIAL_PAIRS else None


def _claims(order: Order, prompts: int | None, locale: str) -> list[tuple[bool, str]]:
    specs = order.specs
    lacking = next((why for spec in specs if (why := lacking_for_speed(spec, prompts))), None)
    pair, levels = len(order.languages) > 1, len({spec.load for spec in specs})
    speed = lacking or mark("speed-up: the plain arm is included")
    languages = mark("languages against each other, on parallel prompts") if pair else mark("one language against another: check a second one")
    until = mark("until what load it pays") if levels >= FEWEST_LEVELS else mark("until what load it pays: that takes three levels of load")
    return [
        (True, gettext("acceptance: language and tokenizer are given", locale)),
        (lacking is None, gettext(speed, locale)),
        (pair, gettext(languages, locale)),
        (levels >= FEWEST_LEVELS, gettext(until, locale)),
    ]
