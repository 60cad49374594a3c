"""What is turned away before any route sees it: foreign host names and oversized bodies; and the headers that every answer carries."""

from collections.abc import MutableMapping
from typing import Any

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import AppError, TooLarge, render

KIB = 1024
BODY = 512 * KIB
FACTS = 16 * KIB * KIB
# A whole suite or file of another tool, and what a form puts around it.
SUITE = 8 * KIB * KIB + 64 * KIB
IMPORT = 64 * KIB * KIB + 64 * KIB

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
)


class WrongHost(AppError):
    """This service is not known under that name"""

    status = 421


def host_of(header: str) -> str:
    """The name in a Host header, without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


class Hosts:
    """Refuses a Host header that is not ours: a page of another site may have pointed its own name at this machine."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        name = host_of(dict(scope["headers"]).get(b"host", b"").decode("latin-1"))
        if name in self._hosts:
            await self._app(scope, receive, send)
            return
        wrong = WrongHost(f'The address names the host "{name}", which is not this service. Set BEZMEN_URL to its public address.')
        await render(wrong.problem())(scope, receive, send)


def limit_of(path: str) -> int:
    """Bytes that a body may take."""
    if path.endswith("/facts"):
        return FACTS
    if path in {"/api/v1/imports", "/imports"}:
        return IMPORT
    return SUITE if path in {"/api/v1/suites", "/suites"} else BODY


class BodyLimit:
    """Refuses a body above the limit, whether it announces its size or not."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = limit_of(scope["path"])
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > limit:
            await render(self._too_large(limit).problem())(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                # The kind of error that the body's reader passes on as it is.
                raise HTTPException(TooLarge.status, self._too_large(limit).detail)
            return message

        await self._app(scope, counted, send)

    @staticmethod
    def _too_large(limit: int) -> TooLarge:
        # What a form takes beside its files is no part of what a person is told.
        return TooLarge(f"The body may take {limit // KIB**2} MiB." if limit >= KIB**2 else f"The body may take {limit // KIB} KiB.")


class Headers:
    """Adds the security headers that an answer does not set itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *((name, value) for name, value in HEADERS if name not in present)]
            await send(message)

        await self._app(scope, receive, with_headers)
