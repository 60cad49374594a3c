"""A program of its own, as whoever starts it sees it: begun, watched, stopped with its whole group."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# What a measurement may see of its parent's environment: no token, no database, no proxy.
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "CXX", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV", "SYSTEMROOT")
GRACE_SECONDS = 10.0
POLL_SECONDS = 0.05


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


class Program:
    """`arguments` in a session of their own, which write behind what is in the file `log`. They hold one end of a pipe and see when the other end,
    this process, is gone."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self.log, self._stopped = log, False
        with log.open("ab") as written:
            self._begun = written.tell()
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.PIPE, stdout=written, stderr=written, env=environment, start_new_session=True, close_fds=True
            )

    @property
    def pid(self) -> int:
        """Of the one that leads the group."""
        return self._process.pid

    @property
    def exit(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def await_exit(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self.exit is None and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)

    def stop(self, grace: float = GRACE_SECONDS) -> None:
        """SIGTERM, then SIGKILL to what is left of the group after `grace` seconds. A second call does nothing: its group may be another's."""
        if self._stopped:
            return
        self._stopped = True
        self._terminate()
        self.await_exit(grace)
        # Workers may outlive the one that started them.
        self._signal(signal.SIGKILL)
        self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def _terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)
