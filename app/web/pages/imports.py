"""Results measured elsewhere: a list with a form for a file, and each import's report with a form that completes its passport."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from app.access.principal import Submitter
from app.domain.outside.supplied import REFUSING, Between, Said, Supplied
from app.errors import AppError
from app.imports.open import FORMATS
from app.imports.routes import content_of
from app.imports.schemas import ImportFilter, ImportLine, ImportOut
from app.imports.service import Alone, Contradicted, Imports, OtherWords, WrongFile, imports_service
from app.reports.fields import field_name
from app.reports.format import counted, decimal, number, say
from app.reports.imported import ImportedReport
from app.reports.imported_shown import held, lines, positions, show
from app.reports.retold import retell
from app.reports.shown import Shown
from app.reports.translate import gettext
from app.reports.words import mark
from app.web.pages.suites import said_at
from app.web.preferences import locale_of
from app.web.render import page

router = APIRouter(include_in_schema=False)
Service = Annotated[Imports, Depends(imports_service)]
Problem = tuple[str, str]
FIELDS = tuple(Supplied.model_fields)
NUMBERS = tuple(Between.model_fields)
# Label and hint of each.
NUMBERS_SAID = {
    "requests": (mark("Requests in between"), mark("llama-server does not count them; others do, and are held against this.")),
    "concurrency": (mark("Requests at a time"), mark("Of one at a time steps without a draft are known.")),
}
WRONG = {"language": mark("Name the language by its tag, such as ru or en.")}
TOO_LONG = mark("At most 256 characters, and no others than text.")
NO_NUMBER = mark("Enter a whole number from 1, or leave it empty.")
ALONE = mark("This is known of two texts of /metrics alone: choose the one from before too.")
# Fields that a passport of ours has under another name, or has not.
OTHER_FIELDS = {
    "chat_template": mark("chat template"), "longest_draft": mark("longest draft"), "measured_at": mark("measured at"), "requests": mark("requests"),
    "concurrency": mark("requests at a time"),
}  # fmt: skip
COUNTS = (
    ("D", "drafted", mark("drafted")), ("V", "verified", mark("kept")), ("A", "accepted", mark("delivered drafts")), ("R", "rounds", mark("rounds")),
    ("U", "undrafted", mark("steps without a draft")), ("P", "prefill_tokens", mark("by the prefill")), ("E", "emitted", mark("delivered")),
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One import of the list; `requests` in words."""

    line: ImportLine
    acceptance: Shown
    per_round: Shown
    requests: str


@router.get("/imports")
async def imports_page(request: Request, imports: Service, filter: Annotated[ImportFilter, Depends()]) -> Response:
    return page(request, "imports.html", **await listed(imports, filter, locale_of(request)))


@router.post("/imports")
async def upload(request: Request, principal: Submitter, imports: Service) -> Response:
    locale = locale_of(request)
    async with request.form(max_files=2, max_fields=16) as form:
        file, before = await content_of(form.get("file")), await content_of(form.get("before"))
        typed = {name: text.strip() for name, text in form.items() if isinstance(text, str)}
    said, problems = said_of(typed, locale)
    if file is None:
        problems.append(("file", gettext("Choose the file that the tool wrote.", locale)))
    if file is not None and said is not None:
        try:
            made, _ = await imports.take(file, said, principal=principal, before=before, format=typed.get("format") or None)
            return RedirectResponse(f"/imports/{made.id}", status_code=303)
        except AppError as error:
            problems = told_of(error, locale)
    return page(request, "imports.html", status=422, **await listed(imports, ImportFilter(), locale, typed, problems))


@router.get("/imports/{number}")
async def import_page(number: int, request: Request, imports: Service) -> Response:
    return page(request, "import.html", **view(await imports.get(number), locale_of(request)))


@router.post("/imports/{number}")
async def complete(number: int, request: Request, principal: Submitter, imports: Service) -> Response:
    locale = locale_of(request)
    typed = {name: text.strip() for name, text in (await request.form()).items() if isinstance(text, str) and name in (*FIELDS, *NUMBERS)}
    said, problems = said_of(typed, locale)
    if said is not None:
        try:
            # What the form leaves empty is taken back.
            await imports.complete(number, Said.model_validate({name: getattr(said, name) for name in typed}), principal=principal)
            return RedirectResponse(f"/imports/{number}", status_code=303)
        except AppError as error:
            if not error.fields:
                raise
            problems = told_of(error, locale)
    return page(request, "import.html", status=422, **view(await imports.get(number), locale, typed, problems))


def said_of(typed: Mapping[str, str], locale: str) -> tuple[Said | None, list[Problem]]:
    """What a form says, or (field, sentence) for each field that says nothing which can be kept."""
    try:
        return Said.model_validate({name: typed[name] for name in (*FIELDS, *NUMBERS) if typed.get(name)}), []
    except ValidationError as error:
        wrong = dict.fromkeys(str(each["loc"][0]) for each in error.errors())
        return None, [(name, gettext(NO_NUMBER if name in NUMBERS else WRONG.get(name, TOO_LONG), locale)) for name in wrong]


def told_of(error: AppError, locale: str) -> list[Problem]:
    if isinstance(error, WrongFile) and error.fault is not None:
        place = (error.fault.field or "").lstrip("/")
        return [(place, say(error.fault.sentence, locale)) if place in NUMBERS else ("file", said_at(error.fault, locale))]
    if isinstance(error, Alone):
        return [("before", gettext(ALONE, locale))]
    if isinstance(error, Contradicted):
        return [(each["pointer"].lstrip("/"), retell(each["detail"], locale)) for each in error.fields]
    if isinstance(error, OtherWords):
        said = gettext("This file is import %(number)s already, and something else is known of it there; change it there.", locale)
        return [("file", said % {"number": error.extra["number"]})]
    named = [each["pointer"].lstrip("/") for each in error.fields if each.get("pointer")]
    return [(named[0] if named and named[0] in FIELDS else "file", retell(error.detail, locale))]


async def listed(
    imports: Imports, filter: ImportFilter, locale: str, typed: Mapping[str, str] | None = None, problems: Sequence[Problem] = ()
) -> dict[str, Any]:
    found = await imports.page(filter)
    asked = "" if filter.refused is None else f"&refused={str(filter.refused).lower()}"
    return {
        "rows": [_row(line, locale) for line in found.items],
        "total": found.total,
        "answer": gettext("Imports: %(total)s; those whose figures are refused: %(refused)s.", locale)
        % {"total": decimal(found.total, 0, locale), "refused": decimal(found.refused, 0, locale)},
        "refused": found.refused,
        "chosen": filter.refused,
        "next": None if found.next_cursor is None else f"/imports?cursor={found.next_cursor}{asked}",
        "formats": sorted(FORMATS),
        "typed": {**dict.fromkeys(("language", "tokenizer", "format", *NUMBERS), ""), **(typed or {})},
        "problems": list(problems),
        "wrong": defaultdict(str, reversed(problems)),
    }


def _row(line: ImportLine, locale: str) -> Row:
    return Row(line, show(line.acceptance, locale), show(line.tokens_per_round, locale), counted(line.requests, "requests", locale))


def view(found: ImportOut, locale: str, typed: Mapping[str, str] | None = None, problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """Everything that the page of an import prints, in words."""
    report = found.report
    shown = list(lines(report, locale))
    refusal = next((line.shown for line in shown if line.shown.state == "refused"), None)
    supplied = found.supplied.model_dump()
    return {
        "made": found,
        "report": report,
        "answer": say(report.answer, locale),
        "closing": say(report.closing, locale),
        "verdict": say(report.verdict, locale),
        "refusal": refusal,
        "lines": [] if refusal else [line for line in shown if not line.shown.part],
        "positions": None if refusal else positions(shown, locale),
        "count": len(shown),
        "held": [held(each, locale) for each in report.beside],
        "passport": _passport(report, locale),
        "missing": ", ".join(import_field(name, locale) for name in report.missing),
        "counts": _counts(report, locale),
        "notes": [say(each, locale) for each in (*report.notes, *report.remarks)],
        "fields": [
            (name, import_field(name, locale), name in REFUSING, (typed or {}).get(name, supplied[name] or ""))
            for name in FIELDS
            if supplied[name] is not None or name not in report.known
        ],
        "numbers": [
            (name, gettext(label, locale), gettext(hint, locale), (typed or {}).get(name, supplied[name] or ""))
            for name, (label, hint) in NUMBERS_SAID.items()
            if found.recounts
        ],
        "problems": list(problems),
        "wrong": defaultdict(str, reversed(problems)),
        "twin": f"/api/v1/imports/{found.id}",
    }


def import_field(field: str, locale: str) -> str:
    return gettext(OTHER_FIELDS[field], locale) if field in OTHER_FIELDS else field_name(field, locale)


_TELLERS = {"file": mark("in the file"), "person": mark("told by a person")}


def _passport(report: ImportedReport, locale: str) -> list[tuple[str, str, str]]:
    """Name, value and who told it."""
    tool = report.tool if report.tool_version is None else f"{report.tool} {report.tool_version}"
    first = [(gettext("tool", locale), tool, gettext("in the file", locale)), (gettext("format", locale), report.format, "")]
    return first + [(import_field(name, locale), value, gettext(_TELLERS[report.told_by[name]], locale)) for name, value in report.known.items()]


def _counts(report: ImportedReport, locale: str) -> list[tuple[str, str]]:
    """What was counted; a count that is not told is said so, and is never 0."""
    found = [(gettext("requests", locale), decimal(report.counts.requests, 0, locale))]
    for symbol, name, words in COUNTS:
        value = getattr(report.counts, name)
        said = gettext("not told", locale) if value is None else number("count", value, locale=locale).value
        found.append((f"{symbol}, {gettext(words, locale)}", said))
    return found
