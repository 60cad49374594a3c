"""In which language and on which paper a page is drawn: an address, then a cookie, then the browser decides."""

from typing import Annotated, Literal

from babel import negotiate_locale
from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse

from app.reports.translate import LOCALES

router = APIRouter(include_in_schema=False)
_YEAR = 365 * 24 * 3600


def locale_of(request: Request) -> str:
    """`en` or `ru`: ?lang=, the cookie, Accept-Language, English."""
    for asked in (request.query_params.get("lang"), request.cookies.get("lang")):
        if asked in LOCALES:
            return asked
    wanted = [part.split(";")[0].strip() for part in request.headers.get("accept-language", "").split(",")]
    return negotiate_locale(wanted, LOCALES, sep="-") or "en"


def theme_of(request: Request) -> str | None:
    """`light`, `dark` or None, which follows the system."""
    theme = request.cookies.get("theme")
    return theme if theme in {"light", "dark"} else None


def local_path(text: str) -> str:
    """A path on this server, or the front page: an address that leaves the server is never followed."""
    return text if text.startswith("/") and not text.startswith(("//", "/\\")) and "\n" not in text and "\r" not in text else "/"


@router.post("/preferences")
async def prefer(
    back: Annotated[str, Form()] = "/",
    theme: Annotated[Literal["system", "light", "dark"] | None, Form()] = None,
    lang: Annotated[Literal["en", "ru"] | None, Form()] = None,
) -> RedirectResponse:
    response = RedirectResponse(local_path(back), status_code=303)
    for name, value in (("theme", theme), ("lang", lang)):
        if value is not None:
            response.set_cookie(name, value, max_age=_YEAR, httponly=True, samesite="lax")
    return response
