"""The measuring process, as its parent sees it."""

import contextlib
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from runners.program import GRACE_SECONDS, Program, environment


class Child(Program):
    """`python -m runners.measure --attached`, with its log in `folder`; it ends when this process is gone."""

    def __init__(self, folder: Path, *, online: bool = False, keys: Sequence[str] = ()) -> None:
        folder.mkdir(parents=True, mode=0o700)
        self.folder = folder
        super().__init__([sys.executable, "-m", "runners.measure", "--attached"], environment(online, keys), folder / "log")

    def measure(self, job: Path) -> None:
        """Hands over the folder of a job. A child that is gone says nothing here; its `exit` does."""
        self._begun = self.log.stat().st_size
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{job.absolute()}\n".encode())
            self._process.stdin.flush()

    def stop(self, grace: float = GRACE_SECONDS) -> None:
        """Its folder goes with it."""
        super().stop(grace)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _terminate(self) -> None:
        """It alone is asked: whom it has started it ends itself."""
        self._process.send_signal(signal.SIGTERM)

    def last_words(self) -> str:
        """The end of what the child wrote since it was given its job, without progress bars."""
        if not self.log.exists():
            return ""
        text = self.log.read_bytes()[self._begun :].decode(errors="replace")
        lines = [line.rsplit("\r", 1)[-1].strip() for line in text.splitlines()]
        return "\n".join([line for line in lines if line][-8:])[-1500:]
