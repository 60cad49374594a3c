"""One runner a device: a lock on a file in a folder that no other user can write."""

import contextlib
import fcntl
import os
import re
import shutil
import time
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
    """The identity of a device as a file may bear it."""
    return re.sub(r"[^A-Za-z0-9]+", "-", device).strip("-").lower()


def hold(device: str, folder: Path, called: str | None = None) -> IO[str]:
    """Holds the device of this identity until the file returned is closed or this process ends, however it ends. Raises DeviceBusy, in which it
    goes by the name that it is `called`."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        return _lock(folder / f"{slug(device)}.lock")
    except DeviceBusy as holder:
        said = f"{called or device} is measured on by {holder} already; two runners on one device would disturb each other"
        raise DeviceBusy(said) from None


def claim(device: str, spools: Path) -> tuple[Path, IO[str]]:
    """The spool of this device and the file that holds it. What was left in `spools` by runners that are gone is removed, since their attempts are
    lost and their texts must not stay; what a living one has is not touched. Raises DeviceBusy where such a one has the spool of this device."""
    spools.mkdir(parents=True, exist_ok=True, mode=0o700)
    own = spools / slug(device)
    try:
        # A runner of another device that starts at this moment may be looking whether anybody lives here.
        held = _lock(own.with_suffix(".lock"), patience=2.0)
    except DeviceBusy as holder:
        raise DeviceBusy(f"{own} is in use by {holder}; give this runner a BEZMEN_DATA of its own") from None
    shutil.rmtree(own, ignore_errors=True)
    for other in [folder for folder in spools.iterdir() if folder.is_dir() and folder != own]:
        with contextlib.suppress(DeviceBusy), _lock(other.with_suffix(".lock")):
            shutil.rmtree(other, ignore_errors=True)
    return own, held


def _lock(path: Path, patience: float = 0.0) -> IO[str]:
    """The file, locked until it is closed. Raises DeviceBusy, which is the name of who has it, when `patience` seconds did not help."""
    file, until = path.open("a+"), time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() < until:
                time.sleep(0.1)
                continue
            file.seek(0)
            holder = file.read().strip() or "another process"
            file.close()
            raise DeviceBusy(holder) from None
    file.truncate(0)
    file.write(f"process {os.getpid()}")
    file.flush()
    return file
