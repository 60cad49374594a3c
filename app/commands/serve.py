"""`bezmen serve`: the service in this process, until it is told to stop."""

import asyncio
import contextlib
import logging
import signal
import socket
from types import FrameType
from typing import Annotated, Any

import typer
import uvicorn
from fastapi import FastAPI

from app.commands.settings import reachable, read
from app.main import create_app
from app.operations.logs import configure
from app.settings import Settings

GRACE_SECONDS = 5
FAILED = 3


class Server(uvicorn.Server):
    """Says when it answers, and lets streams end before it waits for them."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        # Its lines go where ours go, and through the same sieve.
        options: dict[str, Any] = {
            "log_config": None,
            "log_level": "warning",
            "timeout_graceful_shutdown": GRACE_SECONDS,
            "server_header": False,
            "lifespan": "on",
        }
        super().__init__(uvicorn.Config(app, host=settings.host, port=settings.port, **options))
        self._app = app
        self._settings = settings
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            host = f"[{self._settings.host}]" if ":" in self._settings.host else self._settings.host
            typer.echo(f"ready http://{host}:{port}")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        notifications = getattr(self._app.state, "notifications", None)
        if notifications is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(notifications.stop)
        super().handle_exit(sig, frame)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to bind; beyond loopback every request needs a token.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.")] = None,
) -> None:
    """Start the service; without DATABASE_URL with a Postgres of its own (not meant for production)."""
    given: dict[str, Any] = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = reachable(read(**given))
    configure(settings.log)
    if settings.embedded:
        typer.echo(f"embedded Postgres 18 in {settings.data} (not for production; set DATABASE_URL there)")
    run(settings)


def run(settings: Settings) -> None:
    """Serves until SIGINT or SIGTERM, which both end it in order and with status 0."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # uvicorn raises the signal again once it has stopped; that must not kill us on the last metre.
        signal.signal(number, lambda *_: None)
    app = create_app(settings)
    server = Server(app, settings)
    # A sentence for a person is better than the trace in which uvicorn would show it.
    logging.getLogger("uvicorn.error").addFilter(lambda _: not hasattr(app.state, "failure"))
    with contextlib.suppress(SystemExit):
        server.run()
    if not server.started:
        typer.echo(getattr(app.state, "failure", "the service could not start"), err=True)
        raise typer.Exit(FAILED)
