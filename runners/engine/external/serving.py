"""A served engine that is ready: started by this runner or attached to, with what a passport says of it."""

import asyncio
from pathlib import Path
from typing import Self

from app.discovery import subclasses_of
from app.domain.bounds import Short
from app.domain.outside.untrusted import NotUnderstood
from app.domain.value import Value
from runners.engine.external.aliases import Alias, Attached
from runners.engine.external.client import Client, Limits, Now
from runners.engine.external.engines.base import Engine, Setup
from runners.engine.external.faults import EngineFault
from runners.engine.external.process import Process
from runners.models.package import digest
from runners.program import GRACE_SECONDS


class Build(Value):
    """The engine as it was measured. Of models the name of the file or folder and its digest, of paths in `command` the last part; None is what it
    does not tell, or what a server that runs already cannot show. `context` are the tokens that a sequence may have in it."""

    engine: Short
    version: Short | None
    model: Short
    model_digest: Short | None = None
    draft: Short | None = None
    draft_digest: Short | None = None
    command: tuple[str, ...] = ()
    context: int | None = None


def engines() -> dict[str, type[Engine]]:
    return subclasses_of("runners.engine.external.engines", Engine)  # type: ignore[type-abstract]


class Serving:
    """Ready from its making to `stop`; `process` is None for a server that runs already. Raises EngineFault when it does not become ready."""

    def __init__(self, engine: Engine, url: str, *, called: str, key: str | None = None, process: Process | None = None) -> None:
        self.engine, self.url, self.called, self.process, self._key = engine, url, called, process, key

    @classmethod
    def launch(cls, engine: Engine, alias: Alias, setup: Setup, log: Path, *, seconds: float | None = None, called: str | None = None) -> Self:
        """A process of its own, gone again where it does not become ready within `seconds`, which are the engine's own where they are left out.
        Faults call it `called`, or by its engine's name."""
        process = Process(called or engine.name, engine.command(alias, setup), setup.port, log)
        try:
            process.await_ready(engine.health, engine.ready_seconds if seconds is None else seconds)
        except BaseException:
            process.stop()
            raise
        return cls(engine, process.url, called=process.called, process=process)

    @classmethod
    def attach(cls, engine: Engine, alias: Attached, *, called: str | None = None) -> Self:
        return cls(engine, alias.url, called=called or engine.name, key=alias.key())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def client(self, clock: Now, limits: Limits | None = None) -> Client:
        ended = None if self.process is None else self.process.ended
        return Client(self.called, self.url, clock, key=self._key, limits=limits, ended=ended)

    def check_alive(self) -> None:
        """Raises EngineFault where its process or what guards it is gone; of a server that was there before nobody here knows."""
        if self.process is not None:
            self.process.check_alive()

    def stop(self, grace: float = GRACE_SECONDS) -> None:
        """A server that was there before stays."""
        if self.process is not None:
            self.process.stop(grace)

    async def build(self, client: Client, setup: Setup | None = None) -> Build:
        """`setup` is what it was started with. Files are read whole for their digests."""
        version, context = await self._version(client), await self.engine.context(client, setup)
        if setup is None or self.process is None:
            return Build(engine=self.engine.name, version=version, model=self.engine.served_as, context=context)
        model = await asyncio.to_thread(digest_of, setup.model)
        draft = None if setup.draft is None else await asyncio.to_thread(digest_of, setup.draft)
        return Build(
            engine=self.engine.name,
            version=version,
            model=setup.model.name,
            model_digest=model,
            draft=None if setup.draft is None else setup.draft.name,
            draft_digest=draft,
            command=self.process.command.told,
            context=context,
        )

    async def _version(self, client: Client) -> str | None:
        try:
            return await self.engine.version(client)
        except NotUnderstood as error:
            raise EngineFault("engine_unreadable", f"the answer of {self.called} is not understood: {error}") from error


def digest_of(model: Path) -> str:
    """Of a file, or of the weights in a folder."""
    files = [model] if model.is_file() else sorted(model.glob("*.safetensors"))
    if not files:
        raise EngineFault("engine_unfit", f"{model.name} is no file and holds no safetensors")
    return digest(files)
