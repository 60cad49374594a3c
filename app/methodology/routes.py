"""The methodology over HTTP."""

from fastapi import APIRouter

from app.access.principal import Reader
from app.methodology import service
from app.methodology.schemas import Methodology

router = APIRouter(prefix="/api/v1", tags=["methodology"])


@router.get("/methodology")
async def methodology(_: Reader) -> Methodology:
    """Every figure with its formula, the gates with what they go by and how often they are wrong, and what files and engines elsewhere can tell."""
    return service.methodology()
