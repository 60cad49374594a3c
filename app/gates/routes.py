"""Gates over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends

from app.access.principal import Submitter
from app.gates.schemas import GateIn, GateOut
from app.gates.service import Gates, gates_service

router = APIRouter(prefix="/api/v1", tags=["gates"])
Service = Annotated[Gates, Depends(gates_service)]


@router.post("/gates")
async def judge(asked: GateIn, _: Submitter, gates: Service) -> GateOut:
    """Whether a finished run holds bounds, a verdict, or its place beside a baseline. 409 until it has ended."""
    return await gates.judge(asked)
