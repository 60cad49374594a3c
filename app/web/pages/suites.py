"""The suites: what runs are measured on, a form for one of one's own, and the prompts of those that are public."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from app.access.principal import Submitter
from app.domain.prompt import Fault
from app.domain.suite import SHOWN_FAULTS
from app.errors import AppError
from app.reports.format import counted, decimal, say
from app.reports.retold import retell
from app.reports.translate import gettext, language_name, ngettext
from app.reports.words import mark
from app.runners_registry.service import Registry, registry_service
from app.suites.routes import shown, texts_of
from app.suites.schemas import PromptPage, SuiteOut
from app.suites.service import Suites, WrongSuite, merged, suites_service
from app.web.preferences import locale_of
from app.web.render import page

router = APIRouter(include_in_schema=False)
Service = Annotated[Suites, Depends(suites_service)]
Runners = Annotated[Registry, Depends(registry_service)]
PAGE = 50
_ORIGINS = {"runner": mark("comes with the runners"), "uploaded": mark("uploaded"), "private": mark("uploaded, private")}


@dataclass(frozen=True)
class Row:
    """`profiles` are those of a run that names none, `apart` the others in a sentence."""

    suite: SuiteOut
    profiles: tuple[str, ...]
    apart: str
    origin: str
    prompts: str
    parallel: str


@router.get("/suites")
async def suites_page(request: Request, suites: Service, runners: Runners) -> Response:
    return page(request, "suites.html", **await view(suites, runners, locale_of(request)))


@router.post("/suites")
async def upload(request: Request, principal: Submitter, suites: Service, runners: Runners) -> Response:
    locale = locale_of(request)
    async with request.form(max_files=1, max_fields=8) as form:
        id, private, file = str(form.get("id") or "").strip(), "private" in form, form.get("file")
        content = await file.read() if isinstance(file, UploadFile) and file.filename else None
    errors: list[tuple[str, str]] = []
    if not id:
        errors.append(("id", gettext("Name the suite, with a version, such as mine-v1.", locale)))
    if content is None:
        errors.append(("file", gettext("Choose a file of JSON lines.", locale)))
    if not errors and content is not None:
        try:
            made, _ = await suites.upload(id, content, private=private, principal=principal)
            return RedirectResponse(f"/suites/{made.id}", status_code=303)
        except WrongSuite as wrong:
            errors = faults(wrong.faults, locale) or [("id" if wrong.fields else "file", retell(wrong.detail, locale))]
        except AppError as refusal:
            errors = [("id", retell(refusal.detail, locale))]
    return page(request, "suites.html", status=422, **await view(suites, runners, locale, {"id": id, "private": private}, errors))


@router.get("/suites/{suite_id}")
async def suite_page(
    suite_id: str, request: Request, suites: Service, runners: Runners, after: Annotated[int, Query(ge=-1, le=2**31 - 1)] = -1
) -> Response:
    found = await shown(suite_id, suites, runners)
    texts = None if found.private else await texts_of(found, suites, after, PAGE)
    return page(request, "suite.html", **one(found, texts, locale_of(request)))


async def view(
    suites: Suites, runners: Registry, locale: str, typed: dict[str, Any] | None = None, errors: Sequence[tuple[str, str]] = ()
) -> dict[str, Any]:
    found = merged(await suites.listed(), (await runners.catalogue()).suites)
    origins = Counter(_origin(suite) for suite in found)
    return {
        "rows": [row(suite, locale) for suite in found],
        "answer": gettext("Suites that come with the runners: %(runner)s; uploaded: %(uploaded)s; uploaded and private: %(private)s.", locale)
        % {kind: decimal(origins[kind], 0, locale) for kind in _ORIGINS},
        "typed": typed or {"id": "", "private": False},
        "problems": list(errors),
        "wrong": defaultdict(str, reversed(errors)),
    }


def faults(found: Sequence[Fault], locale: str) -> list[tuple[str, str]]:
    """(anchor, sentence) for each of the first faults of a file, and how many more there are."""
    shown = [("file", said_at(fault, locale)) for fault in found[:SHOWN_FAULTS]]
    more = len(found) - len(shown)
    if more > 0:
        shown.append(("file", ngettext("%(n)s more fault.", "%(n)s more faults.", more, locale) % {"n": decimal(more, 0, locale)}))
    return shown


def said_at(fault: Fault, locale: str) -> str:
    said = say(fault.sentence, locale)
    if fault.line is None:
        return f"{fault.field}: {said}" if fault.field else said
    text = gettext("Line %(line)s, %(field)s: %(said)s", locale) if fault.field else gettext("Line %(line)s: %(said)s", locale)
    return text % {"line": decimal(fault.line, 0, locale), "field": fault.field or "", "said": said}


def _origin(suite: SuiteOut) -> str:
    return "private" if suite.private else suite.origin


def row(suite: SuiteOut, locale: str) -> Row:
    profiles = tuple(name for name in suite.profiles if name not in (suite.apart or ()))
    return Row(
        suite, profiles, _apart(suite, locale), gettext(_ORIGINS[_origin(suite)], locale), decimal(suite.prompts, 0, locale), _parallel(suite, locale)
    )


def _parallel(suite: SuiteOut, locale: str) -> str:
    """How many prompts have twins, of those that the number of prompts counts. Twins are not told by profile: where some prompts have none, those of
    profiles that stand apart may be among the rest."""
    if suite.parallel is None:
        return gettext("not told by runners", locale)
    counts = [sum(found.values()) for found in (suite.counts or {}).values()]
    if suite.apart and counts and suite.parallel == min(counts) == max(counts):
        return decimal(suite.prompts, 0, locale)
    n = decimal(suite.parallel, 0, locale)
    return gettext("%(n)s, with those not counted", locale) % {"n": n} if suite.apart and suite.parallel > suite.prompts else n


def one(suite: SuiteOut, texts: PromptPage | None, locale: str) -> dict[str, Any]:
    """Everything that the page of a suite prints, in words."""
    counts = suite.counts or {}
    return {
        "suite": suite,
        "row": row(suite, locale),
        "sentence": _sentence(suite, locale),
        "apart": _apart(suite, locale),
        "lacking": [text for language in counts if (text := _alone(suite, language, locale))],
        "profiles": [(name, [decimal(counts[language].get(name, 0), 0, locale) for language in suite.languages]) for name in suite.profiles]
        if counts
        else [],
        "texts": texts,
        "next": None if texts is None or texts.next_place is None else f"/suites/{suite.id}?after={texts.next_place}",
        "twin": f"/api/v1/suites/{suite.id}",
    }


def _sentence(suite: SuiteOut, locale: str) -> str:
    names = ", ".join(language_name(tag, locale) for tag in suite.languages)
    if len(suite.languages) == 1:
        return gettext("%(prompts)s, language: %(languages)s.", locale) % {"prompts": counted(suite.prompts, "prompts", locale), "languages": names}
    return gettext("%(prompts)s in each language: %(languages)s.", locale) % {
        "prompts": counted(suite.prompts, "prompts", locale),
        "languages": names,
    }


def _apart(suite: SuiteOut, locale: str) -> str:
    """Profiles that the number of prompts leaves out."""
    if not suite.apart or suite.counts is None:
        return ""
    sizes = [min(counts.get(name, 0) for counts in suite.counts.values()) for name in suite.apart]
    named = ", ".join(f"{name} ({decimal(size, 0, locale)})" for name, size in zip(suite.apart, sizes, strict=True))
    return gettext("Not counted, since a run takes them only where it names them: %(profiles)s.", locale) % {"profiles": named}


def _alone(suite: SuiteOut, language: str, locale: str) -> str:
    """What of one language cannot be compared with the others."""
    left = sum((suite.counts or {}).get(language, {}).values()) - (suite.parallel or 0)
    if len(suite.languages) < 2 or not left:
        return ""
    text = gettext("%(language)s: %(prompts)s without a twin in every other language, so not compared between languages.", locale)
    return text % {"language": language_name(language, locale), "prompts": counted(left, "prompts", locale)}
