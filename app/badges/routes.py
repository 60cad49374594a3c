"""Badges over HTTP."""

import hashlib
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Response

from app.access.principal import Reader
from app.badges import words
from app.runs.routes import RunId
from app.runs.service import Runs, runs_service

router = APIRouter(prefix="/api/v1", tags=["badges"])
KEPT_SECONDS = 300


@router.get("/runs/{run}/badge.svg", response_class=Response, responses={200: {"content": {"image/svg+xml": {}}}})
async def badge(
    run: RunId,
    _: Reader,
    runs: Annotated[Runs, Depends(runs_service)],
    locale: Literal["en", "ru"] = "en",
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """The verdict, speed-up and acceptance of a run as an image. What is refused says so and shows no number."""
    report = await runs.report(run)
    drawn = words.of_run(report, locale)
    tag = f'"{hashlib.sha256(drawn.encode()).hexdigest()[:32]}"'
    # Even of a run that has ended: the verdict of a campaign's run may change until the last of its family has.
    kept = f"private, max-age={KEPT_SECONDS}" if words.final(report) else "no-cache"
    headers = {"ETag": tag, "Cache-Control": kept, "Content-Security-Policy": "default-src 'none'"}
    if if_none_match is not None and tag in if_none_match:
        return Response(status_code=304, headers=headers)
    return Response(drawn, media_type="image/svg+xml", headers=headers)
