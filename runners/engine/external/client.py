"""Requests to a served engine, timed: the clock starts before sending, or at the planned arrival."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, Self

import httpx

from runners.engine.external.answer import Heard, parsed, words_of
from runners.engine.external.faults import EngineFault
from runners.engine.external.sse import Events

LARGEST_BODY = 64 << 20
LARGEST_ERROR = 64 << 10
# How long a process may take to be seen as gone when its connections have broken.
PATIENCE = 1.0


class Now(Protocol):
    def now(self) -> float: ...


@dataclass(frozen=True)
class Limits:
    """Seconds for a connection, until an answer's first event, and between two events. A comment that only keeps a connection open is no event."""

    connect: float = 10.0
    first: float = 300.0
    between: float = 60.0


@dataclass(frozen=True)
class Posted:
    """Where a request goes, and its body."""

    path: str
    body: Mapping[str, Any]


class Client:
    """As many connections as there are requests in flight: none waits for another one here. Each request has its own, since a server may close one
    behind an answer without a word (llama-server does behind a stream). Nothing is tried twice, no proxy is used and no redirection followed. `ended`
    says, after so many seconds of patience, how the engine's process ended, and None while it runs."""

    def __init__(
        self,
        called: str,
        url: str,
        clock: Now,
        *,
        key: str | None = None,
        limits: Limits | None = None,
        ended: Callable[[float], EngineFault | None] | None = None,
    ) -> None:
        self.called, self.clock, self.limits, self._ended = called, clock, limits or Limits(), ended
        self._http = httpx.AsyncClient(
            base_url=url,
            headers={"Accept-Encoding": "identity"} | ({} if key is None else {"Authorization": f"Bearer {key}"}),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            timeout=httpx.Timeout(None, connect=self.limits.connect),
            trust_env=False,
            follow_redirects=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def hear(self, posted: Posted, planned_at: float | None = None) -> Heard:
        """The answer, event by event. Raises EngineFault when the server refuses, breaks off, or is silent for longer than its limits."""
        while planned_at is not None and (left := planned_at - self.clock.now()) > 0:
            await asyncio.sleep(left)
        sent_at = self.clock.now()
        events: list[tuple[float, bytes]] = []
        async with (
            self._faults(self.limits.first, lambda: len(events)),
            asyncio.timeout(self.limits.first) as limit,
            self._http.stream("POST", posted.path, json=dict(posted.body)) as response,
        ):
            await self._check(response)
            streamed = response.headers.get("content-type", "").startswith("text/event-stream")
            async for event in self._events(response) if streamed else self._whole(response):
                events.append((self.clock.now(), event))
                limit.reschedule(asyncio.get_running_loop().time() + self.limits.between)
        return Heard(planned_at, sent_at, self.clock.now(), tuple(events), streamed)

    async def _events(self, response: httpx.Response) -> AsyncIterator[bytes]:
        events = Events()
        async for piece in response.aiter_raw():
            for event in events.feed(piece):
                yield event
        if not events.whole:
            raise EngineFault("engine_cut", f"the answer of {self.called} was cut off in the middle of an event")

    async def _whole(self, response: httpx.Response) -> AsyncIterator[bytes]:
        yield await self._body(response, LARGEST_BODY)

    async def _body(self, response: httpx.Response, most: int) -> bytes:
        found = b""
        async for piece in response.aiter_raw():
            found += piece
            if len(found) > most:
                raise EngineFault("engine_unreadable", f"{self.called} answered with more than {most >> 10} KiB")
        return found

    async def _check(self, response: httpx.Response) -> None:
        if response.status_code != httpx.codes.OK:
            words = words_of(await self._body(response, LARGEST_ERROR))
            said = f"{self.called} answered {response.status_code} to {response.url.path}"
            passing = response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR or response.status_code == httpx.codes.TOO_MANY_REQUESTS
            raise EngineFault("engine_refused", f"{said}: {words}" if words else f"{said} and said nothing", again=passing)

    async def get(self, path: str, most: int = 4 << 20) -> bytes:
        """Raises EngineFault where the answer is not 200."""
        seconds = self.limits.between
        async with self._faults(seconds, lambda: 0), asyncio.timeout(seconds), self._http.stream("GET", path) as response:
            await self._check(response)
            return await self._body(response, most)

    async def told(self, path: str) -> Mapping[str, object]:
        """The object at `path`, as `get`."""
        return parsed(self.called, await self.get(path))

    @asynccontextmanager
    async def _faults(self, first: float, heard: Callable[[], int]) -> AsyncIterator[None]:
        """What goes wrong below, as a sentence; a process that has ended tells its last words."""
        try:
            yield
        except TimeoutError as error:
            raise self._silent(first, heard()) from error
        except httpx.TimeoutException as error:
            raise EngineFault("engine_gone", f"{self.called} took no connection within {self.limits.connect:g} seconds") from error
        except httpx.HTTPError as error:
            ended = None if self._ended is None else await asyncio.to_thread(self._ended, PATIENCE)
            if ended is not None:
                raise ended from error
            broke = f"the connection to {self.called} broke after {heard()} events of an answer" if heard() else f"{self.called} could not be reached"
            raise EngineFault("engine_gone", f"{broke}: {str(error) or type(error).__name__}") from error

    def _silent(self, first: float, heard: int) -> EngineFault:
        if not heard:
            return EngineFault("engine_stalled", f"{self.called} sent nothing for {first:g} seconds")
        seconds = f"{self.limits.between:g} seconds"
        return EngineFault("engine_stalled", f"the answer of {self.called} stalled: nothing came for {seconds} after event {heard}")
