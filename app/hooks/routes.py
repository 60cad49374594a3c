"""Webhooks over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from app.access.principal import Admin
from app.hooks.schemas import DeliveryOut, WebhookIn, WebhookMade, WebhookOut
from app.hooks.service import Hooks, hooks_service

router = APIRouter(prefix="/api/v1/webhooks", tags=["webhooks"])
Service = Annotated[Hooks, Depends(hooks_service)]
WebhookId = Annotated[int, Path(description="A number that no webhook has is a 404, however large.")]


@router.post("", status_code=201)
async def add(asked: WebhookIn, principal: Admin, hooks: Service, response: Response) -> WebhookMade:
    """Deliveries are signed: `Bezmen-Signature: t=SECONDS,v1=HEX`, the HMAC-SHA256 of `SECONDS.BODY` under the secret, which is shown this once."""
    made = await hooks.add(asked, principal=principal)
    response.headers["Location"] = f"/api/v1/webhooks/{made.id}"
    return made


@router.get("")
async def listed(_: Admin, hooks: Service) -> list[WebhookOut]:
    """Webhooks of the project, without their secrets."""
    return await hooks.listed()


@router.delete("/{webhook}", status_code=204)
async def remove(webhook: WebhookId, principal: Admin, hooks: Service) -> None:
    """Nothing is sent there any more; its log stays."""
    await hooks.remove(webhook, principal=principal)


@router.get("/{webhook}/deliveries")
async def log(webhook: WebhookId, _: Admin, hooks: Service, limit: Annotated[int, Query(ge=1, le=200)] = 50) -> list[DeliveryOut]:
    """What was sent, newest first, with every try."""
    return await hooks.log(webhook, limit)
