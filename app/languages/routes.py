"""Languages over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends

from app.access.principal import Reader
from app.languages.schemas import Languages
from app.languages.service import Tongues, languages_service

router = APIRouter(prefix="/api/v1", tags=["languages"])


@router.get("/languages")
async def languages(_: Reader, tongues: Annotated[Tongues, Depends(languages_service)]) -> Languages:
    """Fertility, acceptance with speed-up, verdicts and refusals by tokenizer and language; each number is one run's own, with its run."""
    return await tongues.summary()
