"""What runners offer, over HTTP. (Who they are and what they are at: app.line.)"""

from typing import Annotated

from fastapi import APIRouter, Depends

from app.access.principal import Reader, Runner
from app.domain.catalogue import Offer
from app.runners_registry.schemas import Catalogue
from app.runners_registry.service import Registry, registry_service

router = APIRouter(prefix="/api/v1", tags=["runners"])
Rooms = Annotated[Registry, Depends(registry_service)]


@router.put("/runners/me/offer", status_code=204)
async def publish(offer: Offer, principal: Runner, runners: Rooms) -> None:
    """What a runner says of itself: device, models, parts with their parameters."""
    await runners.publish(principal, offer)


@router.get("/catalogue", response_model_by_alias=True)
async def catalogue(_: Reader, runners: Rooms) -> Catalogue:
    """What can be asked for: all that the runners which are up offer."""
    return await runners.catalogue()
