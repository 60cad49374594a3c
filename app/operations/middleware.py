"""Each request gets a number, which every line of the log about it and its answer carry; and it is counted and timed."""

import logging
import re
import secrets
import time
from collections.abc import MutableMapping
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from app.operations.logs import REQUEST_ID, REQUESTS, scope_now, scrubbed
from app.operations.meters import Meters

logger = logging.getLogger(REQUESTS)
HEADER = b"x-request-id"
SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Paths that no route serves share one name: their number has no bound.
NOWHERE = "none"


def number_of(scope: Scope) -> str:
    """The caller's own number where it is one that can stand in a log, else a new one."""
    given = dict(scope["headers"]).get(HEADER, b"").decode("latin-1")
    return given if SANE.fullmatch(given) and scrubbed(given) == given else secrets.token_hex(8)


class Requests:
    def __init__(self, app: ASGIApp, meters: Meters) -> None:
        self._app = app
        self._meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        number = scope[REQUEST_ID] = number_of(scope)
        status, began = 500, time.perf_counter()

        async def numbered(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (HEADER, number.encode())]
            await send(message)

        token = scope_now.set(scope)
        try:
            await self._app(scope, receive, numbered)
        finally:
            self._tell(scope, status, time.perf_counter() - began)
            scope_now.reset(token)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        route, method = template(scope), scope["method"]
        self._meters.answered(route, method, status, seconds)
        fields = {"method": method, "route": route, "status": status, "seconds": round(seconds, 6)}
        logger.info("%s %s %s in %.3f s", method, route, status, seconds, extra={"fields": fields})


def template(scope: Scope) -> str:
    """The route that answered, without the values in its path."""
    return str(getattr(scope.get("route"), "path", None) or NOWHERE)
