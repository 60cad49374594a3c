"""Logging in and out, where other machines can reach the service."""

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from app.access.principal import COOKIE, anyone, at_this_machine, own_form
from app.access.users import SESSION_HOURS, Users
from app.errors import AppError
from app.reports.retold import retell
from app.settings import Settings
from app.web.preferences import local_path, locale_of
from app.web.render import page

router = APIRouter(include_in_schema=False)
Next = Annotated[str, Query(max_length=2000)]


@router.get("/login", dependencies=[Depends(anyone)])
async def login_page(request: Request, next: Next = "/runs") -> Response:
    return page(request, "login.html", name="", next=local_path(next), problems=[], local=at_this_machine(request))


@router.post("/login", dependencies=[Depends(own_form)])
async def login(
    request: Request,
    name: Annotated[str, Form(max_length=1000)] = "",
    password: Annotated[str, Form(max_length=4000)] = "",
    next: Annotated[str, Form(max_length=2000)] = "/runs",
) -> Response:
    client = request.client.host if request.client else ""
    try:
        session = await _users(request).login(name, password, client)
    except AppError as refusal:
        problems = [("name", retell(refusal.detail, locale_of(request)))]
        context = {"name": name, "next": local_path(next), "problems": problems, "local": at_this_machine(request)}
        found = page(request, "login.html", status=refusal.status, **context)
        found.headers.update(refusal.headers)
        return found
    response = RedirectResponse(local_path(next), status_code=303)
    secure = request.url.scheme == "https" or _settings(request).base_url.startswith("https://")
    response.set_cookie(COOKIE, session, max_age=SESSION_HOURS * 3600, httponly=True, samesite="strict", secure=secure)
    return response


@router.post("/logout", dependencies=[Depends(own_form)])
async def logout(request: Request) -> Response:
    session = request.cookies.get(COOKIE)
    if session is not None:
        await _users(request).logout(session)
    response = RedirectResponse("/login", status_code=303)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


def _users(request: Request) -> Users:
    return cast(Users, request.app.state.users)


def _settings(request: Request) -> Settings:
    return cast(Settings, request.app.state.settings)
