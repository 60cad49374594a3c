"""The measuring process, as its parent sees it: started, watched, stopped with its whole group."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

# What a measurement may see of its parent's environment: no token, no database, no proxy.
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "CXX", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV", "SYSTEMROOT")
GRACE_SECONDS = 10.0


def environment(online: bool, keys: Sequence[str] = ()) -> dict[str, str]:
    """Threads wait passively, so that an idle one does not burn the core that the next step needs. `keys` name what holds keys of engines."""
    kept = {name: os.environ[name] for name in (*KEPT, *keys) if name in os.environ}
    fixed = {
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TQDM_DISABLE": "1",
        "OMP_WAIT_POLICY": "PASSIVE",
        "KMP_BLOCKTIME": "0",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONUNBUFFERED": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    return kept | fixed | ({} if online else {"HF_HUB_OFFLINE": "1"})


class Child:
    """`python -m runners.measure --attached` in a session of its own, with its log in `folder`. It holds one end of a pipe and ends when the other
    end, this process, is gone."""

    def __init__(self, folder: Path, *, online: bool = False, keys: Sequence[str] = ()) -> None:
        folder.mkdir(parents=True, mode=0o700)
        self.folder = folder
        self._log = folder / "log"
        self._begun = 0
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "runners.measure", "--attached"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment(online, keys),
                start_new_session=True,
                close_fds=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def measure(self, job: Path) -> None:
        """Hands over the folder of a job. A child that is gone says nothing here; its `exit` does."""
        self._begun = self._log.stat().st_size
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{job.absolute()}\n".encode())
            self._process.stdin.flush()

    def ask_to_stop(self) -> None:
        if self.exit is None:
            self._process.send_signal(signal.SIGTERM)

    def stop(self, grace: float = GRACE_SECONDS) -> None:
        """SIGTERM, then SIGKILL to the whole group after `grace` seconds; its folder goes with it."""
        self.ask_to_stop()
        deadline = time.monotonic() + grace
        while self.exit is None and time.monotonic() < deadline:
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def last_words(self) -> str:
        """The end of what the child wrote since it was given its job, without progress bars."""
        if not self._log.exists():
            return ""
        text = self._log.read_bytes()[self._begun :].decode(errors="replace")
        lines = [line.rsplit("\r", 1)[-1].strip() for line in text.splitlines()]
        return "\n".join([line for line in lines if line][-8:])[-1500:]
