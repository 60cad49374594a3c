"""Prompt suites, as runners offer them; their text stays with the runners."""

from typing import Annotated

from fastapi import APIRouter, Depends

from app.access.principal import Reader
from app.domain.catalogue import OfferedSuite
from app.runners_registry.service import Registry, registry_service

router = APIRouter(prefix="/api/v1/suites", tags=["suites"])


@router.get("")
async def listed(_: Reader, runners: Annotated[Registry, Depends(registry_service)]) -> list[OfferedSuite]:
    return (await runners.catalogue()).suites


@router.get("/{suite}")
async def one(suite: str, _: Reader, runners: Annotated[Registry, Depends(registry_service)]) -> OfferedSuite:
    return await runners.suite(suite)
