"""Where engines lie that were made here, and what making any of them needs: one at a time, and never a half of one."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path


class CannotBuild(RuntimeError):
    """Something that is needed for making an engine is missing or has failed."""


def cache() -> Path:
    """Under $BEZMEN_CACHE, else in the user's cache."""
    return Path(os.environ.get("BEZMEN_CACHE") or user_cache_path("bezmen", appauthor=False)) / "engines"


@contextmanager
def alone() -> Iterator[None]:
    """A second one that is started meanwhile waits, and then finds what the first one has made."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(command: list[str], failed: str) -> str:
    """What it wrote. Raises CannotBuild with its last words."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise CannotBuild(f"{failed}: {command[0]}: {error.strerror}") from error
    if done.returncode:
        raise CannotBuild(f"{failed}; its last words:\n" + "\n".join(done.stdout.splitlines()[-15:]))
    return done.stdout


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
