"""Who is asking, as a dependency of routes and pages."""

import base64
import binascii
from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast
from urllib.parse import urlsplit

from fastapi import Depends, Request

from app.access.tokens import SCOPES, Scope
from app.errors import Forbidden, Unauthenticated
from app.settings import Settings
from app.storage.view import DEFAULT, View

if TYPE_CHECKING:
    from app.access.service import Access

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True)
class Principal:
    """`token` is None for somebody at this very machine who needed none; `project` is None for who sees all of them."""

    name: str
    scopes: frozenset[Scope]
    token: int | None = None
    project: str | None = DEFAULT

    @property
    def key(self) -> str:
        """What an Idempotency-Key and a quota belong to."""
        return "local" if self.token is None else f"token-{self.token}"

    @property
    def view(self) -> View:
        """What this principal may see."""
        return View(self.project)

    @property
    def home(self) -> str:
        """The project of what this principal makes."""
        return self.project or DEFAULT

    def need(self, scope: Scope) -> None:
        """Raises Forbidden. A token that may submit may read; only a runner's token may lease."""
        held = self.scopes | ({"read"} if self.scopes & {"submit", "admin"} else set())
        if scope not in held:
            raise Forbidden(f"{_said(held)}; {NEEDED[scope]} takes a token with the scope {scope}.")


NEEDED: dict[Scope, str] = {
    "read": "reading runs",
    "submit": "submitting runs",
    "admin": "administering the service",
    "runner": "leasing and measuring runs",
}


def _said(held: Set[str]) -> str:
    if "runner" in held:
        return "This token is for runners"
    return "This token is for " + " and ".join(NEEDED[scope] for scope in SCOPES if scope in held)


LOCAL_READER = Principal("local", frozenset({"read"}), project=None)
LOCAL_ADMIN = Principal("local", frozenset({"read", "submit", "admin"}), project=None)


def bearer(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def _password(request: Request) -> str | None:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(given, validate=True).decode().partition(":")[2] or None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _settings(request: Request) -> Settings:
    return cast(Settings, request.app.state.settings)


async def _known(request: Request, token: str, scheme: str = "Bearer") -> Principal:
    access: Access = request.app.state.access
    found = await access.principal(token)
    if found is None:
        raise Unauthenticated("This token is not known here, or it was revoked.", scheme=scheme)
    return found


async def principal(request: Request) -> Principal:
    """Who is asking: of the API by token, of a page by where it is asked from."""
    return await (_of_api(request) if request.url.path.startswith("/api/") else page_principal(request))


async def _of_api(request: Request) -> Principal:
    """The bearer of a token, or, on a loopback binding, a local reader."""
    token = bearer(request)
    if token is not None:
        return await _known(request, token)
    if request.method in SAFE and _settings(request).loopback:
        return LOCAL_READER
    raise Unauthenticated("Send a token: Authorization: Bearer …")


async def page_principal(request: Request) -> Principal:
    """Whoever sits at this machine is its admin; from elsewhere a token is the password of HTTP Basic."""
    if request.method not in SAFE:
        _same_origin(request)
    if _settings(request).loopback:
        return LOCAL_ADMIN
    token = _password(request) or bearer(request)
    if token is None:
        raise Unauthenticated("Enter any user name and a token as the password.", scheme="Basic")
    return await _known(request, token, scheme="Basic")


def _same_origin(request: Request) -> None:
    """A form of another site must not act in the name of whoever has this page open. Browsers state where a request comes from."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        same = site == "same-origin"
    else:
        same = origin is not None and urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    if not same:
        raise Forbidden("This form was not sent from a page of this service; open the page and send it from there.")


@dataclass(frozen=True)
class Needs:
    """A dependency that lets in whoever has this scope. Every route declares one of these, or `anyone`, or a token of its own kind."""

    scope: Scope

    async def __call__(self, who: Annotated[Principal, Depends(principal)]) -> Principal:
        who.need(self.scope)
        return who


def anyone() -> None:
    """The declaration of a route that says nothing which is not everybody's."""


def own_form(request: Request) -> None:
    """The same for a form of our own pages, which another site must not send."""
    _same_origin(request)


Reader = Annotated[Principal, Depends(Needs("read"))]
Submitter = Annotated[Principal, Depends(Needs("submit"))]
Admin = Annotated[Principal, Depends(Needs("admin"))]
Runner = Annotated[Principal, Depends(Needs("runner"))]
