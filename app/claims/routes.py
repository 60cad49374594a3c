"""Claims over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response

from app.access.principal import Admin, Reader, Submitter
from app.claims.schemas import Claim, ClaimIn, System
from app.claims.service import Claims, claims_service

router = APIRouter(prefix="/api/v1/claims", tags=["claims"])
Service = Annotated[Claims, Depends(claims_service)]
ClaimId = Annotated[int, Path(description="A number that no claim has is a 404, however large.")]


@router.get("")
async def listed(_: Reader, claims: Service) -> list[System]:
    """Every system on the board with what is claimed of it. Nothing here was measured by this service."""
    return await claims.board()


@router.post("", status_code=201)
async def enter(claim: ClaimIn, principal: Submitter, claims: Service, response: Response) -> Claim:
    """Enters a published figure with its source, language and tokenizer, as far as the source names them."""
    made = await claims.enter(claim, principal=principal)
    response.headers["Location"] = f"/api/v1/claims/{made.id}"
    return made


@router.get("/{claim}")
async def one(claim: ClaimId, _: Reader, claims: Service) -> Claim:
    """One claim with its source."""
    return await claims.get(claim)


@router.delete("/{claim}", status_code=204)
async def withdraw(claim: ClaimId, principal: Admin, claims: Service) -> None:
    """Takes a claim off the board; its row is kept."""
    await claims.withdraw(claim, principal=principal)
