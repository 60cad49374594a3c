"""Every page, one file each."""

from fastapi import APIRouter, Depends
from fastapi.responses import RedirectResponse

from app.access.principal import require
from app.web import assets, preferences
from app.web.pages import compare, methodology, run, runs, submit

router = APIRouter(include_in_schema=False)
router.include_router(assets.router)
for part in (preferences, runs, submit, run, compare, methodology):
    router.include_router(part.router, dependencies=[Depends(require("read"))])


@router.get("/")
async def home() -> RedirectResponse:
    return RedirectResponse("/runs")
