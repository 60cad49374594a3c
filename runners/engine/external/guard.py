"""Runs one command and takes it along when the process that asked for it is gone, however that ended.

`python guard.py CORES COMMAND…` with a pipe as standard input, as leader of a session of its own; CORES are those that it may use, as 0,1, or nothing
for all. Nothing of ours is imported: it starts in no time and waits without work, beside what is being measured.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

GRACE_SECONDS = 5.0
# linux/prctl.h
PR_SET_PDEATHSIG = 1


_alone = threading.Event()


def _follow() -> None:
    """Standard input ends with the parent; then the whole group does."""
    while os.read(0, 4096):
        pass
    _alone.set()
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os.killpg(0, signal.SIGKILL)


def _ignore(*_: object) -> None:
    """A handler of ours, since an ignored signal would be ignored by the command too."""


def _bound() -> Callable[[], None] | None:
    """What the command does before it begins, so that it ends with this guard even where that is killed; None where the system cannot say so."""
    if sys.platform != "linux":
        return None
    import ctypes

    prctl, guard = ctypes.CDLL(None).prctl, os.getpid()

    def bind() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # A guard that was killed before that sends no signal any more.
        if os.getppid() != guard:
            os._exit(1)

    return bind


def main() -> None:
    signal.signal(signal.SIGTERM, _ignore)
    signal.signal(signal.SIGINT, _ignore)
    cores, arguments = sys.argv[1], sys.argv[2:]
    try:
        if cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
        command = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, preexec_fn=_bound())
    except OSError as error:
        sys.exit(f"{arguments[0]} could not be started: {error.strerror}")
    threading.Thread(target=_follow, daemon=True).start()
    status = command.wait()
    if _alone.is_set():
        # Nobody is left to see a status, or to end the workers of a command that has ended.
        os.killpg(0, signal.SIGKILL)
    if status < 0:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main()
