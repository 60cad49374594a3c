"""Campaigns over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response

from app.access.principal import Reader, Submitter
from app.campaigns.schemas import CampaignIn, CampaignOut
from app.runs.campaigns import Campaigns, campaigns_service
from app.runs.routes import Key

router = APIRouter(prefix="/api/v1", tags=["campaigns"])
Service = Annotated[Campaigns, Depends(campaigns_service)]
CampaignId = Annotated[int, Path(description="A number that no campaign has is a 404, however large.")]


@router.post("/campaigns", status_code=201, responses={200: {"model": CampaignOut, "description": "the campaign that this key made before"}})
async def create(body: CampaignIn, principal: Submitter, campaigns: Service, response: Response, idempotency_key: Key = None) -> CampaignOut:
    """All runs or none; those that differ in drafter and controller alone are measured side by side."""
    campaign, created = await campaigns.submit(body.title, body.runs, principal=principal, idempotency_key=idempotency_key)
    response.status_code = 201 if created else 200
    response.headers["Location"] = f"/api/v1/campaigns/{campaign}"
    return await _shown(campaign, campaigns)


@router.get("/campaigns/{campaign}")
async def one(campaign: CampaignId, _: Reader, campaigns: Service) -> CampaignOut:
    return await _shown(campaign, campaigns)


async def _shown(campaign: int, campaigns: Campaigns) -> CampaignOut:
    title, members = await campaigns.get(campaign)
    return CampaignOut(id=campaign, title=title, runs=members)
