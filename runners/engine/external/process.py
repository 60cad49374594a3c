"""A served engine as a process: started, awaited, watched."""

import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from runners.engine.external import guard
from runners.engine.external.faults import EngineFault
from runners.engine.external.ports import LOOPBACK, check_free, listens_alone
from runners.engine.external.words import end_of, without_folders
from runners.program import POLL_SECONDS, Program, environment

READY_SECONDS = 120.0


@dataclass(frozen=True)
class Command:
    """What is run, what its environment holds beside that of every measurement, and the cores that it may use; none are all that this process may,
    so that whoever sends the requests would take time from whoever answers them."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    cores: tuple[int, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """The command as a passport names it: of paths the last part."""
        named = tuple(f"{name}={value}" for name, value in sorted(self.environment.items()))
        words = (*named, *self.arguments)
        # A port is any that was free, and no difference between two runs.
        return tuple("…" if before == "--port" else without_folders(word) for before, word in zip(("", *words), words, strict=False))


def surroundings(command: Command) -> dict[str, str]:
    """No token, no proxy, no database; threads that wait do so passively, since one that spins would take the core of another."""
    kept = environment(online=False)
    kept.pop("VIRTUAL_ENV", None)
    return {**kept, **command.environment}


class Process(Program):
    """`command` under a guard, with its log in the file `log`, which is kept. It is expected to listen on `port` of loopback and ends when this
    process does. Raises EngineFault when the port is taken."""

    def __init__(self, called: str, command: Command, port: int, log: Path) -> None:
        check_free(port)
        log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.called, self.command, self.port = called, command, port
        guarded = [sys.executable, "-I", str(Path(guard.__file__)), ",".join(map(str, command.cores)), *command.arguments]
        super().__init__(guarded, surroundings(command), log)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def await_ready(self, path: str, seconds: float = READY_SECONDS) -> None:
        """Returns when `path` is answered with 200 by this process and no other. Raises EngineFault when it has exited, when `seconds` are over, or
        when somebody else answers."""
        deadline, said = time.monotonic() + seconds, "it never answered"
        with httpx.Client(base_url=self.url, timeout=5.0, trust_env=False) as client:
            while time.monotonic() < deadline:
                self.check_alive()
                try:
                    status = client.get(path).status_code
                except httpx.HTTPError:
                    time.sleep(POLL_SECONDS)
                    continue
                if status == httpx.codes.OK:
                    return self._check_own()
                said = f"its last answer was {status}"
                time.sleep(POLL_SECONDS)
        raise EngineFault("engine_not_ready", self._with_words(f"{self.called} was not ready within {seconds:g} seconds; {said}"))

    def _check_own(self) -> None:
        self.check_alive()
        if not listens_alone(self.port, self.pid):
            raise EngineFault(
                "port_taken", f"another program than {self.called} listens on port {self.port} of this machine; end it, or choose another port"
            )

    def check_alive(self) -> None:
        """Raises EngineFault with its last words when it is gone."""
        if (ended := self.ended()) is not None:
            raise ended

    def ended(self, patience: float = 0.0) -> EngineFault | None:
        """How it ended and its last words; None while it runs. A process whose connections have just broken may take `patience` seconds to be seen
        as gone. One that chose to end does so again; one that a signal ended may do better another time. It is gone with its guard, whichever of
        them was killed."""
        self.await_exit(patience)
        if self.exit is None:
            return None
        how = f"exited with status {self.exit}" if self.exit >= 0 else f"was ended by {_name(-self.exit)}"
        return EngineFault("engine_exited", self._with_words(f"{self.called} {how}"), again=self.exit < 0)

    def _with_words(self, sentence: str) -> str:
        words = self.last_words()
        return f"{sentence}; its last words:\n{words}" if words else f"{sentence} and said nothing"

    def last_words(self) -> str:
        return end_of(self.log, self._begun)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
