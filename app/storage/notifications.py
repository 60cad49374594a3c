"""One LISTEN connection per process, fanned out to everybody who waits; who misses a message polls."""

import asyncio
import contextlib
import logging

import psycopg
from sqlalchemy import URL

logger = logging.getLogger(__name__)

# Postgres channel -> what it is called here.
CHANNELS = {"bezmen_events": "run", "procrastinate_any_queue_v1": "queue"}


class Notifications:
    """`wait` returns at the next message of a topic (`queue`, `run:41`), at its timeout, or at once when the process is stopping.

    `listening` is false while there is no connection: whoever waits then comes back at the timeout alone."""

    def __init__(self, url: URL) -> None:
        self._conninfo = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self._task: asyncio.Task[None] | None = None
        self.stopping = asyncio.Event()
        self.listening = False

    async def start(self) -> None:
        self._task = asyncio.create_task(self._listen())

    def stop(self) -> None:
        """Lets everybody who waits go; may be called again."""
        self.stopping.set()
        for topic in list(self._waiting):
            self._wake(topic)

    async def close(self) -> None:
        self.stop()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def wait(self, topic: str, timeout: float) -> None:
        if self.stopping.is_set():
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(topic, set()).add(future)
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(future, timeout)
        finally:
            waiting = self._waiting[topic]
            waiting.discard(future)
            if not waiting:
                del self._waiting[topic]

    def _wake(self, topic: str) -> None:
        for future in list(self._waiting.get(topic, ())):
            if not future.done():
                future.set_result(None)

    async def _listen(self) -> None:
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True, connect_timeout=10) as connection:
                    for channel in CHANNELS:
                        await connection.execute(f"LISTEN {channel}")
                    self.listening = True
                    async for message in connection.notifies():
                        kind = CHANNELS[message.channel]
                        self._wake(f"run:{message.payload}" if kind == "run" else kind)
                        if kind == "run":
                            # A run that goes back to the queue sends no message of the queue's own.
                            self._wake("queue")
            except psycopg.OperationalError as error:
                logger.warning("the database went away, listening again in a second: %s", error)
            finally:
                self.listening = False
            await asyncio.sleep(1)
