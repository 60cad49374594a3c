"""Every error that a browser meets, as a page in its language."""

from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.reports.translate import gettext
from app.web.preferences import locale_of
from app.web.render import page


def error_page(request: Request, problem: dict[str, Any]) -> HTMLResponse:
    """The same problem (RFC 9457) that a program gets as JSON."""
    locale = locale_of(request)
    fields = [(_place(item), str(item.get("detail", ""))) for item in problem.get("errors", [])]
    title = gettext(str(problem.get("title", "")), locale)
    detail = gettext(str(problem.get("detail", "")), locale)
    return page(request, "error.html", status=int(problem["status"]), title=title, detail=detail, fields=fields)


def _place(item: dict[str, str]) -> str:
    return item.get("pointer", "").lstrip("/").replace("/", ".") or item.get("parameter", "")
