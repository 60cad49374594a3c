"""Who is asking, as a dependency of routes and pages."""

import base64
import binascii
from collections.abc import Set
from dataclasses import dataclass
from typing import Annotated, Protocol, cast
from urllib.parse import urlsplit

from fastapi import Depends, Request

from app.access.middleware import host_of
from app.access.tokens import SCOPES, Scope
from app.errors import Forbidden, Unauthenticated
from app.settings import Settings, is_loopback
from app.storage.view import DEFAULT, View


class LoginNeeded(Unauthenticated):
    """Log in first"""


SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
# What a proxy adds, besides X-Forwarded-*: whoever asks then sits on its other side.
FORWARDED = frozenset({"forwarded", "x-real-ip", "via"})


@dataclass(frozen=True)
class Principal:
    """Somebody at this very machine needs neither `token` nor `user`; `project` is None for who sees all of them."""

    name: str
    scopes: frozenset[Scope]
    token: int | None = None
    user: int | None = None
    project: str | None = DEFAULT

    @property
    def key(self) -> str:
        """What an Idempotency-Key and a quota belong to."""
        if self.user is not None:
            return f"user-{self.user}"
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


class Knows(Protocol):
    """What knows somebody by a secret: the tokens of the service, or the sessions of its users."""

    async def principal(self, secret: str, /) -> Principal | None: ...


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


COOKIE = "bezmen_session"
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


def at_this_machine(request: Request) -> bool:
    """Whether nobody but a person or program of this machine can have asked: the service is bound to loopback and has no other public address,
    was called by a loopback name, and no proxy stands before it."""
    proxied = any(name in FORWARDED or name.startswith("x-forwarded-") for name in request.headers)
    return _settings(request).loopback and is_loopback(host_of(request.headers.get("host", ""))) and not proxied


async def _known(request: Request, token: str | None) -> Principal:
    tokens: Knows = request.app.state.access
    found = None if token is None else await tokens.principal(token)
    if found is None:
        raise Unauthenticated("This token is not known here, or it was revoked.")
    return found


async def principal(request: Request) -> Principal:
    """Who is asking. What is sent as Authorization counts, wherever it is sent from; without it, of a page and to look alone, whoever sits at this
    machine is its admin, and from elsewhere people log in."""
    found = await (_of_api(request) if request.url.path.startswith("/api/") else _of_page(request))
    request.state.principal = found
    return found


async def _of_api(request: Request) -> Principal:
    """The bearer of a token; to look alone, as of a page: no form of another site can send a token."""
    if request.method in SAFE:
        found = await _sent_or_local(request)
    else:
        token = bearer(request)
        found = None if token is None else await _known(request, token)
    if found is None:
        raise Unauthenticated("Send a token: Authorization: Bearer …")
    return found


async def _of_page(request: Request) -> Principal:
    """Programs send a token, also as the password of HTTP Basic."""
    if request.method not in SAFE:
        _same_origin(request)
    found = await _sent_or_local(request)
    if found is None:
        raise LoginNeeded("Log in to see this page.")
    return found


async def _sent_or_local(request: Request) -> Principal | None:
    if "authorization" in request.headers:
        return await _known(request, bearer(request) or _password(request))
    return LOCAL_ADMIN if at_this_machine(request) else await _of_session(request)


async def _of_session(request: Request) -> Principal | None:
    session = request.cookies.get(COOKIE)
    sessions: Knows = request.app.state.users
    return None if session is None else await sessions.principal(session)


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
