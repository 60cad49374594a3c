"""Runners and the line before them, over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends

from app.access.principal import Reader
from app.line.schemas import RunnerView, Waiting, WaitingProbe
from app.line.service import Line, line_service

router = APIRouter(prefix="/api/v1", tags=["runners"])
Service = Annotated[Line, Depends(line_service)]


@router.get("/runners", response_model_by_alias=True)
async def runners(_: Reader, line: Service) -> list[RunnerView]:
    """What each runner offers, what it is at, and how quiet it was."""
    return await line.runners()


@router.get("/queue")
async def queue(_: Reader, line: Service) -> list[Waiting]:
    """Runs that wait, in their order, with the reason why each runner has not taken them."""
    return await line.waiting()


@router.get("/queue/probes")
async def probes_queue(_: Reader, line: Service) -> list[WaitingProbe]:
    """Probes that wait, oldest first, with the reason why each runner has not taken them. Runs come before them."""
    return await line.probes()
