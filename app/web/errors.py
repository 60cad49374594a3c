"""Every error that a browser meets, as a page in its language."""

from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from app.access.principal import SAFE, LoginNeeded
from app.reports.retold import retell
from app.web.preferences import locale_of
from app.web.render import page


def error_page(request: Request, problem: dict[str, Any]) -> Response:
    """The same problem (RFC 9457) that a program gets as JSON; who has to log in is led to where one does."""
    if problem.get("type") == LoginNeeded.urn():
        return RedirectResponse(login_address(request), status_code=303)
    locale = locale_of(request)
    fields = [(_place(item), str(item.get("detail", ""))) for item in problem.get("errors", [])]
    title, detail = retell(str(problem.get("title", "")), locale), str(problem.get("detail", ""))
    return page(request, "error.html", status=int(problem["status"]), title=title, detail=detail, fields=fields)


def login_address(request: Request) -> str:
    """The login page, which leads back to where somebody wanted to go."""
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return "/login?" + urlencode({"next": here if request.method in SAFE else "/runs"})


def _place(item: dict[str, str]) -> str:
    return item.get("pointer", "").lstrip("/").replace("/", ".") or item.get("parameter", "")
