"""Every page, one file each."""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse

from app.access.principal import Needs, Reader, anyone, own_form
from app.web import assets, preferences
from app.web.pages import access, campaigns, compare, imports, landscape, languages, login, methodology, probes, run, runners, runs, submit, suites

router = APIRouter(include_in_schema=False)
router.include_router(assets.router, dependencies=[Depends(anyone)])
router.include_router(preferences.router, dependencies=[Depends(own_form)])
router.include_router(login.router)
router.include_router(access.router, dependencies=[Depends(Needs("admin"))])
for part in (runs, campaigns, probes, submit, run, compare, suites, imports, languages, landscape, runners, methodology):
    router.include_router(part.router, dependencies=[Depends(Needs("read"))])


@router.get("/")
async def home(_: Reader, request: Request) -> RedirectResponse:
    return RedirectResponse("/runs" + (f"?{request.url.query}" if request.url.query else ""))
