"""The server of one arm, through its restarts."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import psutil

from runners.engine.external.aliases import Alias, Attached
from runners.engine.external.answer import Ask
from runners.engine.external.client import Client, Now
from runners.engine.external.engines.base import Engine, Setup
from runners.engine.external.faults import EngineFault
from runners.engine.external.ports import free_port
from runners.engine.external.serving import Build, Serving

# What a server that has just started answers first, outside of any time: its first forward allocates.
FEW_IDS, FEW_TOKENS = 8, 2
# How long a process may take to go that has said that it cannot go on.
DYING_SECONDS = 5.0
# One rests that takes less than this share of a core over a window of ten ticks of the kernel's clock.
WINDOW_SECONDS, RESTING, RESTLESS_SECONDS = 0.1, 0.25, 15.0


class Server:
    """Started by the runner from `setup`, or attached to where there is none. `seconds` is what its last start took, None for one that ran already.
    Faults call it `called`, or by its engine's name. Every method but `stop` raises EngineFault."""

    def __init__(self, engine: Engine, alias: Alias, setup: Setup | None, log: Path, clock: Now, *, called: str | None = None) -> None:
        self.engine, self.alias, self.setup, self.log, self.clock = engine, alias, setup, log, clock
        self.called: str = called or engine.name
        self.seconds: float | None = None
        self._serving: Serving | None = None
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        if self._client is None:
            raise EngineFault("engine_gone", f"{self.called} has been stopped")
        return self._client

    @property
    def serving(self) -> Serving:
        if self._serving is None:
            raise EngineFault("engine_gone", f"{self.called} has been stopped")
        return self._serving

    async def start(self) -> None:
        if self.setup is None or isinstance(self.alias, Attached):
            assert isinstance(self.alias, Attached)
            self._serving = Serving.attach(self.engine, self.alias, called=self.called)
        else:
            began = time.monotonic()
            self.setup = replace(self.setup, port=free_port())
            self._serving = Serving.launch(self.engine, self.alias, self.setup, self.log, called=self.called)
            self.seconds = time.monotonic() - began
        self._client = self._serving.client(self.clock)

    async def stop(self) -> None:
        client, serving = self._client, self._serving
        self._client = self._serving = None
        if client is not None:
            await client.__aexit__()
        if serving is not None:
            serving.stop()

    async def renew(self, ids: tuple[int, ...]) -> None:
        """Started anew, so that it remembers nothing but a few `ids`. A server that ran before stays as it is."""
        if self.setup is None:
            return
        await self.stop()
        await self.start()
        await self.engine.ask(self.client, Ask(ids[:FEW_IDS], FEW_TOKENS))

    async def scrape(self) -> str | None:
        return await self.engine.scrape(self.client)

    async def build(self) -> Build:
        return await self.serving.build(self.client, self.setup)

    def check_alive(self) -> None:
        self.serving.check_alive()

    def end_of(self, fault: EngineFault) -> EngineFault | None:
        """How the engine ended where it refused for that: one whose worker is gone says so before it goes too, and its log says why. None where it
        runs on, or nobody here can see it."""
        process = None if self._serving is None else self._serving.process
        return process.ended(DYING_SECONDS) if process is not None and fault.code == "engine_refused" else None

    async def rest(self) -> None:
        """Returns when its processes wait. An engine may look busily for the next request before it sleeps, vLLM for a second, and on the same cores
        it would halve the speed of the arm that is asked next. A server that ran before cannot be watched."""
        deadline = time.monotonic() + RESTLESS_SECONDS
        while self.setup is not None:
            before = self.spent()
            await asyncio.sleep(WINDOW_SECONDS)
            if self.spent() - before < RESTING * WINDOW_SECONDS:
                return
            if time.monotonic() > deadline:
                called, seconds = self.called, RESTLESS_SECONDS
                raise EngineFault("engine_restless", f"{called} takes its cores although nothing is asked of it, for more than {seconds:g} seconds")

    def spent(self) -> float:
        """Processor seconds of its processes."""
        if self._serving is None or self._serving.process is None:
            return 0.0
        try:
            first = psutil.Process(self._serving.process.pid)
            return sum(_seconds(each) for each in (first, *first.children(recursive=True)))
        except psutil.Error:
            return 0.0


def _seconds(process: psutil.Process) -> float:
    try:
        spent = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(spent.user + spent.system)
