"""Gates over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends

from app.access.principal import Submitter
from app.gates.schemas import GateIn, GateOut
from app.gates.service import Gates, gates_service
from app.hooks.service import Hooks, hooks_service

router = APIRouter(prefix="/api/v1", tags=["gates"])
Service = Annotated[Gates, Depends(gates_service)]


@router.post("/gates")
async def judge(asked: GateIn, principal: Submitter, gates: Service, hooks: Annotated[Hooks, Depends(hooks_service)]) -> GateOut:
    """Whether a finished run holds bounds, a verdict, or its place beside a baseline. 409 until it has ended."""
    found = await gates.judge(asked)
    if found.answer != "does not hold" or not asked.to_be_confirmed:
        await hooks.announce(found, principal=principal)
    return found
