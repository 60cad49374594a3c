"""What watches over the service asks: does it live, may it be sent requests, how is it."""

from importlib.metadata import version
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from app.access.principal import Reader, anyone
from app.operations.meters import Meters
from app.operations.readiness import ready
from app.operations.service import Gauges, gauges_service

router = APIRouter(tags=["service"])


@router.get("/api/v1/healthz", dependencies=[Depends(anyone)])
async def healthz(request: Request) -> dict[str, str]:
    """Whether the service and its database answer; needs no token and says nothing else."""
    await request.app.state.database.ping()
    return {"status": "ok", "version": version("bezmen")}


@router.get("/api/v1/readyz", dependencies=[Depends(anyone)])
async def readyz(request: Request) -> dict[str, str]:
    """Whether it should be sent requests: schema up to date, queue heard, not stopping; else 503 with the reason."""
    return {"status": "ready", "schema": await ready(request.app.state.database, request.app.state.notifications)}


@router.get("/metrics", include_in_schema=False)
async def metrics(_: Reader, request: Request, gauges: Annotated[Gauges, Depends(gauges_service)]) -> Response:
    """For Prometheus: what the caller may see of the line, and what this process has counted."""
    meters = cast(Meters, request.app.state.meters)
    return Response(await gauges.rendered() + meters.rendered(), media_type=CONTENT_TYPE_LATEST)
