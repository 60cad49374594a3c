"""The service and the runner of the demo, as processes of their own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import IO

from app.settings import Settings

START_SECONDS = 120.0
STOP_SECONDS = 30.0


class CannotStart(RuntimeError):
    """A process of the demo did not come up; the message holds its last words."""


class Processes:
    """Starts a process of `bezmen` with its log under the data folder, and stops what it started in reverse order."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._started: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._logs: dict[str, Path] = {}
        self._open: list[IO[bytes]] = []

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        for _, process in reversed(self._started):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        for log in self._open:
            log.close()

    def start(self, name: str, *arguments: str) -> Path:
        """`bezmen ARGUMENTS` in a session of its own, so that Ctrl-C reaches it through this process alone. Returns its log."""
        folder = self.settings.data / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"demo-{name}.log"
        log = path.open("wb")
        self._open.append(log)
        command = [sys.executable, "-m", "app.cli", *arguments]
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, env=os.environ)
        self._started.append((name, process))
        self._logs[name] = path
        return path

    def wait_for(self, name: str, sign: str) -> str:
        """The rest of the first line of the log that begins with `sign`. Raises CannotStart."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            for line in self._logs[name].read_text(errors="replace").splitlines():
                if line.startswith(sign):
                    return line.removeprefix(sign).strip()
            self.check()
            time.sleep(0.1)
        raise CannotStart(f"the {name} did not come up in {START_SECONDS:.0f} s; see {self._logs[name]}")

    def check(self) -> None:
        """Raises CannotStart when a process has ended."""
        for name, process in self._started:
            if process.poll() is not None:
                words = self._logs[name].read_text(errors="replace")[-1500:].strip()
                raise CannotStart(f"the {name} ended with status {process.returncode}:\n{words}")
