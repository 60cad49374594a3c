"""Imports over HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import ValidationError
from starlette.datastructures import UploadFile

from app.access.principal import Reader, Submitter
from app.domain.outside.supplied import Between, Said
from app.errors import InvalidInput
from app.imports.schemas import ImportFilter, ImportOut, ImportPage, ImportQuery
from app.imports.service import Imports, imports_service

router = APIRouter(prefix="/api/v1/imports", tags=["imports"])
Service = Annotated[Imports, Depends(imports_service)]
ImportId = Annotated[int, Path(description="A number that no import has is a 404, however large.")]
FILE = {"type": "string", "format": "binary"}
TOLD = {name: {"type": "integer" if name in Between.model_fields else "string"} for name in ImportQuery.model_fields}
BODY = {
    "required": True,
    "content": {
        "application/octet-stream": {"schema": FILE},
        "multipart/form-data": {"schema": {"type": "object", "properties": {"file": FILE, "before": FILE, **TOLD}, "required": ["file"]}},
    },
}
HERE: dict[int | str, dict[str, Any]] = {200: {"model": ImportOut, "description": "this very file is here already"}}


@router.post("", status_code=201, openapi_extra={"requestBody": BODY}, responses=HERE)
async def take(request: Request, response: Response, principal: Submitter, imports: Service, asked: Annotated[ImportQuery, Query()]) -> ImportOut:
    """Takes the file of another tool: as the body, whatever its type, or as `file` of a form, with an earlier text of /metrics as `before`.

    Language and tokenizer come from the file, the query or the form; without them its figures are refused until they are added."""
    came = await sent(request)
    asked = merged(asked, came.told)
    said = Said.model_validate(asked.model_dump(include=set(Said.model_fields)))
    made, created = await imports.take(came.file, said, principal=principal, before=came.before, format=asked.format)
    response.status_code = 201 if created else 200
    response.headers["Location"] = f"/api/v1/imports/{made.id}"
    return made


@router.get("")
async def listed(filter: Annotated[ImportFilter, Query()], _: Reader, imports: Service) -> ImportPage:
    """Results measured elsewhere, newest first."""
    return await imports.page(filter)


@router.get("/{number}")
async def one(number: ImportId, _: Reader, imports: Service) -> ImportOut:
    """One import and its report. It never stands beside what was measured here, and has no verdict."""
    return await imports.get(number)


@router.patch("/{number}")
async def complete(number: ImportId, said: Said, principal: Submitter, imports: Service) -> ImportOut:
    """Adds what the file does not tell: language, tokenizer, target, hardware and more; null takes it back. The file's own word stands.

    `requests` and `concurrency` of two texts of /metrics are corrected here too: the counts are made anew of what was kept of the texts."""
    return await imports.complete(number, said, principal=principal)


@dataclass(frozen=True)
class Sent:
    """`before` is the earlier one of two texts, `told` what a form says beside its files."""

    file: bytes
    before: bytes | None = None
    told: Mapping[str, str] = field(default_factory=dict)


async def sent(request: Request) -> Sent:
    """Raises InvalidInput."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        return Sent(await request.body())
    async with request.form(max_files=2, max_fields=32) as form:
        file, before = await content_of(form.get("file")), await content_of(form.get("before"))
        told = {name: text for name, text in form.items() if isinstance(text, str) and text.strip()}
    if file is None:
        raise InvalidInput("The form holds no file under the name file.", fields=[{"pointer": "/file", "detail": "is required"}])
    return Sent(file, before, told)


def merged(asked: ImportQuery, told: Mapping[str, str]) -> ImportQuery:
    """What query and form say together. Raises InvalidInput where both say one thing, or the form one that is not known."""
    twice = next((name for name in told if getattr(asked, name, None) is not None), None)
    if twice is not None:
        raise InvalidInput(f"{twice} is given twice, in the query and in the form.", fields=[{"pointer": f"/{twice}", "detail": "is given twice"}])
    try:
        return ImportQuery.model_validate({**asked.model_dump(exclude_none=True), **told})
    except ValidationError as error:
        raise InvalidInput.of([dict(each) | {"loc": ("body", *each["loc"])} for each in error.errors()]) from error


async def content_of(part: UploadFile | str | None) -> bytes | None:
    """An empty choice of a file is none."""
    return await part.read() if isinstance(part, UploadFile) and part.filename else None
