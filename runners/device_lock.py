"""One runner a device: a lock on a file in a folder that no other user can write."""

import fcntl
import os
import re
from pathlib import Path
from typing import IO


class DeviceBusy(RuntimeError):
    """Another runner on this machine holds the device."""


def lock_folder() -> Path:
    """Where locks lie: a folder of root's for root, of the user's own for a user."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/run/bezmen")
    return Path(os.environ.get("XDG_RUNTIME_DIR") or Path.home() / ".cache") / "bezmen"


def slug(device: str) -> str:
    """The device's name as a file may bear it."""
    return re.sub(r"[^A-Za-z0-9]+", "-", device).strip("-").lower()


def hold(device: str, folder: Path) -> IO[str]:
    """Holds the device until the file returned is closed or this process ends, however it ends. Raises DeviceBusy."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = (folder / f"{slug(device)}.lock").open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        holder = file.read().strip() or "another process"
        file.close()
        raise DeviceBusy(f"{device} is measured on by {holder} already; two runners on one device would disturb each other") from error
    file.truncate(0)
    file.write(f"process {os.getpid()}")
    file.flush()
    return file
