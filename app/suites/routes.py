"""Prompt suites: those that come with Bezmen or are a runner's own, whose text stays with it, and those that were uploaded."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from app.access.principal import Reader, Submitter
from app.errors import AppError, Conflict
from app.runners_registry.service import Registry, registry_service
from app.suites.schemas import PromptPage, SuiteOut, UploadOut, UploadQuery
from app.suites.service import Suites, merged, shipped_prompts, suites_service

router = APIRouter(prefix="/api/v1/suites", tags=["suites"])
Service = Annotated[Suites, Depends(suites_service)]
Runners = Annotated[Registry, Depends(registry_service)]
# JSON lines have no registered type; these are the names that programs give them.
LINES = ("application/jsonl", "application/x-ndjson", "application/x-jsonlines", "text/plain", "application/octet-stream")
BODY = {"required": True, "content": {LINES[0]: {"schema": {"type": "string"}}}}


class NoLines(AppError):
    """The body is of another kind"""

    status = 415


class TextElsewhere(Conflict):
    """The text is not here"""


@router.get("")
async def listed(_: Reader, suites: Service, runners: Runners) -> list[SuiteOut]:
    """Suites that come with the runners, and the project's own."""
    return merged(await suites.listed(), (await runners.catalogue()).suites)


@router.post(
    "", status_code=201, openapi_extra={"requestBody": BODY}, responses={200: {"model": UploadOut, "description": "this very suite is here already"}}
)
async def upload(
    request: Request,
    response: Response,
    principal: Submitter,
    suites: Service,
    asked: Annotated[UploadQuery, Query()],
) -> UploadOut:
    """JSON lines, one prompt a line: id, parallel, language, profile, answer, text. Every wrong line is named, 20 at most."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in LINES:
        raise NoLines(f"Send the lines of the suite as the body, with Content-Type: {LINES[0]}.")
    made, created = await suites.upload(asked.id, await request.body(), private=asked.private, principal=principal)
    response.status_code = 201 if created else 200
    response.headers["Location"] = f"/api/v1/suites/{made.id}"
    return made


@router.get("/{suite}")
async def one(suite: str, _: Reader, suites: Service, runners: Runners) -> SuiteOut:
    """A suite: languages, profiles, digest, and whether its text is private."""
    return await shown(suite, suites, runners)


@router.get("/{suite}/prompts")
async def prompts(
    suite: str,
    _: Reader,
    suites: Service,
    runners: Runners,
    after: Annotated[int, Query(ge=-1, le=2**31 - 1, description="`next_place` of the page before.")] = -1,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> PromptPage:
    """The prompts of a suite that was uploaded or comes with Bezmen. Those of a private one are refused."""
    found = await shown(suite, suites, runners)
    texts = await texts_of(found, suites, after, limit)
    if texts is None:
        raise TextElsewhere(f"Suite {found.id} comes with the runners; its text is in their installation, not here.")
    return texts


async def texts_of(suite: SuiteOut, suites: Suites, after: int, limit: int) -> PromptPage | None:
    """A page of its prompts; None where a runner alone has them. Raises PrivateText."""
    if suite.origin == "runner":
        return shipped_prompts(suite.digest, after, limit)
    return await suites.prompts(suite.id, after, limit)


async def shown(id: str, suites: Suites, runners: Registry) -> SuiteOut:
    """Raises NoSuchSuite."""
    stored = await suites.find(id)
    return merged([stored], await runners.suites(id))[0] if stored else merged([], [await runners.suite(id)])[0]
