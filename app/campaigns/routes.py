"""Campaigns over HTTP."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Response

from app.access.principal import Reader, Submitter
from app.campaigns.forecast import progress_of
from app.campaigns.schemas import CampaignFilter, CampaignIn, CampaignLine, CampaignOut, CampaignPage
from app.runs.campaigns import Campaigns, campaigns_service
from app.runs.routes import Key

router = APIRouter(prefix="/api/v1", tags=["campaigns"])
Service = Annotated[Campaigns, Depends(campaigns_service)]
MADE_BEFORE: dict[int | str, dict[str, Any]] = {200: {"model": CampaignOut, "description": "the campaign that this key made before"}}
CampaignId = Annotated[int, Path(description="A number that no campaign has is a 404, however large.")]


@router.post("/campaigns", status_code=201, responses=MADE_BEFORE)
async def create(body: CampaignIn, principal: Submitter, campaigns: Service, response: Response, idempotency_key: Key = None) -> CampaignOut:
    """All runs or none; those that differ in drafter and controller alone are measured side by side."""
    campaign, created = await campaigns.submit(body.title, body.specs, principal=principal, idempotency_key=idempotency_key)
    response.status_code = 201 if created else 200
    return await _at(campaign, campaigns, response)


@router.get("/campaigns")
async def listed(filter: Annotated[CampaignFilter, Query()], _: Reader, campaigns: Service) -> CampaignPage:
    """Campaigns, newest first."""
    return await page_of(filter, campaigns)


@router.get("/campaigns/{campaign}")
async def one(campaign: CampaignId, _: Reader, campaigns: Service) -> CampaignOut:
    """A campaign with its runs, its progress and its verdicts as one family."""
    return await shown(campaign, campaigns)


@router.post("/campaigns/{campaign}/cancel")
async def cancel(campaign: CampaignId, principal: Submitter, campaigns: Service) -> CampaignOut:
    """Ends every run of it that has not ended."""
    await campaigns.cancel(campaign, principal=principal)
    return await shown(campaign, campaigns)


@router.post("/campaigns/{campaign}/repeat", status_code=201, responses=MADE_BEFORE)
async def repeat(campaign: CampaignId, principal: Submitter, campaigns: Service, response: Response, idempotency_key: Key = None) -> CampaignOut:
    """The same measurements once more, as a campaign of their own. A repeated Idempotency-Key answers with the campaign that it made first."""
    repeated, created = await campaigns.repeat(campaign, principal=principal, idempotency_key=idempotency_key)
    response.status_code = 201 if created else 200
    return await _at(repeated, campaigns, response)


@router.post("/campaigns/{campaign}/resume")
async def resume(campaign: CampaignId, principal: Submitter, campaigns: Service, idempotency_key: Key = None) -> CampaignOut:
    """New runs for those that were cancelled, or that failed where a retry makes sense. An Idempotency-Key resumes once."""
    await campaigns.resume(campaign, principal=principal, idempotency_key=idempotency_key)
    return await shown(campaign, campaigns)


async def _at(campaign: int, campaigns: Campaigns, response: Response) -> CampaignOut:
    response.headers["Location"] = f"/api/v1/campaigns/{campaign}"
    return await shown(campaign, campaigns)


async def shown(campaign: int, campaigns: Campaigns) -> CampaignOut:
    """Raises NoSuchCampaign."""
    found = await campaigns.get(campaign)
    return CampaignOut(
        id=found.id, title=found.title, submitted_by=found.submitted_by, created_at=found.created_at, progress=progress_of(found.runs),
        runs=list(found.runs), earlier=list(found.earlier),
    )  # fmt: skip


async def page_of(filter: CampaignFilter, campaigns: Campaigns) -> CampaignPage:
    rows = await campaigns.page(filter.cursor, filter.limit)
    names = ("id", "title", "submitted_by", "created_at", "counts")
    items = [CampaignLine.model_validate(dict(zip(names, row, strict=True))) for row in rows[: filter.limit]]
    return CampaignPage(items=items, next_cursor=items[-1].id if len(rows) > filter.limit else None)
