"""The landscape over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends

from app.access.principal import Reader
from app.landscape.schemas import Landscape
from app.landscape.service import Board, landscape_service

router = APIRouter(prefix="/api/v1", tags=["claims"])


@router.get("/landscape")
async def landscape(_: Reader, board: Annotated[Board, Depends(landscape_service)]) -> Landscape:
    """Systems with their claims, and beside them the runs measured here with the same drafter."""
    return await board.landscape()
