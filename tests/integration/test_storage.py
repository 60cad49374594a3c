"""The embedded server and its traps, the migrations, and the tables beside the types."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from sqlalchemy import URL, CheckConstraint, text

from app.domain.facts import RequestFact, TrialFact
from app.storage import host
from app.storage.database import BadAddress, Database, RuleBroken, address
from app.storage.embedded import EmbeddedPostgres
from app.storage.fact_tables import requests, trials
from app.storage.host import EmbeddedError
from app.storage.migrate import check, upgrade
from app.storage.schema import METADATA


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="bezmen-test-"))
    path.chmod(0o711)
    yield path
    EmbeddedPostgres(path).stop()
    shutil.rmtree(path)


def ask(url: URL, query: str = "SELECT 1") -> object:
    with psycopg.connect(host=str(url.query["host"]), user=url.username, password=url.password, dbname=url.database) as connection:
        cursor = connection.execute(query.encode())
        row = cursor.fetchone() if cursor.description else None
        return None if row is None else row[0]


async def test_from_nothing_to_the_newest_schema(postgres: EmbeddedPostgres) -> None:
    """Catches a migration that works only on the author's database, differs from tables.py, or cannot be repeated."""
    database = Database(postgres.create_database("fresh"))
    try:
        for step in (upgrade, check, upgrade):
            async with database.transaction() as connection:
                await connection.run_sync(step)
    finally:
        await database.close()
        postgres.drop_database("fresh")


async def test_rules_of_the_tables_are_in_the_database(migrated: Database) -> None:
    """Catches a CHECK that was added to tables.py and to no migration: alembic does not compare those."""
    wanted = {str(rule.name) for table in METADATA.tables.values() for rule in table.constraints if isinstance(rule, CheckConstraint)}
    async with migrated.transaction() as connection:
        there = set(await connection.scalars(text("SELECT conname FROM pg_constraint WHERE contype = 'c' AND conname LIKE 'ck\\_%'")))
    assert there == wanted


@pytest.mark.parametrize(("table", "fact"), [(requests, RequestFact), (trials, TrialFact)])
def test_every_field_of_a_fact_has_its_column(table: object, fact: type[RequestFact] | type[TrialFact]) -> None:
    """Catches a fact that gains a field which the tables drop."""
    assert set(table.c.keys()) - {"id", "attempt_id"} == set(fact.model_fields) - {"kind"}  # type: ignore[attr-defined]


async def test_two_processes_may_migrate_at_once(postgres: EmbeddedPostgres) -> None:
    """Catches two services that start together and trip over each other's tables."""
    url = postgres.create_database("race").render_as_string(hide_password=False)
    code = """
import asyncio, sys
from app.storage import host
from app.storage.database import BadAddress, Database, RuleBroken, address
from app.storage.migrate import migrate
asyncio.run(migrate(Database(address(sys.argv[1]))))
"""
    try:
        started = [subprocess.Popen([sys.executable, "-W", "ignore", "-c", code, url]) for _ in range(3)]
        assert [process.wait(60) for process in started] == [0, 0, 0]
    finally:
        postgres.drop_database("race")


def test_role_and_locale(postgres: EmbeddedPostgres) -> None:
    """Catches a service that works as superuser, and a locale that cannot lower-case Cyrillic."""
    assert ask(postgres.url(), "SELECT rolsuper OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = current_user") is False
    assert ask(postgres.url(), "SELECT lower('ЁЖ') || (('Жук' ILIKE 'жук')::text)") == "ёжtrue"


def test_nobody_enters_without_the_password(postgres: EmbeddedPostgres) -> None:
    """Catches a server that trusts every local user."""
    for user in ("postgres", "bezmen"):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(host=str(postgres.url().query["host"]), user=user, dbname="postgres", password="guess")


def test_survives_kill_and_a_pid_file_that_names_somebody_else(folder: Path) -> None:
    """Catches the start that trusts any live process to be the server (after a reboot, or in a container)."""
    first = EmbeddedPostgres(folder)
    first.start()
    ask(first.url(), "CREATE TABLE kept (x int)")
    pid = first.pid()
    assert pid is not None
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    for process in family:
        process.kill()
    psutil.wait_procs(family, timeout=10)
    lines = (folder / "pg" / "postmaster.pid").read_text().split("\n")
    (folder / "pg" / "postmaster.pid").write_text("\n".join([str(os.getpid()), *lines[1:]]))
    assert first.pid() is None
    first._ownership.release()
    second = EmbeddedPostgres(folder)
    second.start()
    assert ask(second.url(), "SELECT count(*) FROM kept") == 0


def test_attaches_to_a_server_that_a_killed_process_left(folder: Path) -> None:
    """Catches a second server on the same files after a kill -9 of the service, and one that nobody can stop any more."""
    code = """
import os, sys
from pathlib import Path
from app.storage.embedded import EmbeddedPostgres
EmbeddedPostgres(Path(sys.argv[1])).start()
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", code, str(folder)], check=False).returncode == -signal.SIGKILL
    postgres = EmbeddedPostgres(folder)
    left = postgres.pid()
    assert left is not None
    postgres.start()
    assert postgres.pid() == left
    postgres.stop()
    assert postgres.pid() is None
    assert not psutil.pid_exists(left) or psutil.Process(left).status() == psutil.STATUS_ZOMBIE


def test_one_service_per_directory(folder: Path) -> None:
    """Catches a second service whose end would stop the database under the first; commands may still look in."""
    owner = EmbeddedPostgres(folder)
    owner.start()
    with pytest.raises(EmbeddedError, match="another process already serves"):
        EmbeddedPostgres(folder).start()
    with EmbeddedPostgres(folder).borrowed():
        assert ask(owner.url()) == 1
    assert owner.pid() is not None


def test_a_command_leaves_nothing_running(folder: Path) -> None:
    """Catches a database that stays up because somebody listed tokens."""
    postgres = EmbeddedPostgres(folder)
    with postgres.borrowed():
        assert postgres.pid() is not None
    assert postgres.pid() is None


def test_a_long_path(folder: Path) -> None:
    """Catches a socket address that is cut off, or one that lies in a directory of somebody else."""
    deep = folder / ("d" * 60) / ("e" * 60)
    postgres = EmbeddedPostgres(deep)
    if os.geteuid() == 0:
        deep.mkdir(parents=True)
        for path in (folder, *(deep.parents[i] for i in range(1))):
            path.chmod(0o711)
    postgres.start()
    try:
        assert ask(postgres.url()) == 1
        assert postgres.socket_directory.stat().st_mode & 0o777 == 0o700
    finally:
        postgres.stop()
        shutil.rmtree(postgres.socket_directory, ignore_errors=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")
def test_root_opens_no_directory_for_it(folder: Path) -> None:
    """Catches the start that makes /root readable for everybody."""
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(EmbeddedError, match="BEZMEN_DATA"):
        EmbeddedPostgres(closed / "data").start()
    assert closed.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_as_an_ordinary_user(folder: Path) -> None:
    """Catches a start that works for root alone."""
    folder.chmod(0o777)
    # The interpreter may lie in a directory of root's, so the process becomes somebody else only once everything is loaded.
    code = """
import os, sys
from pathlib import Path
import psycopg
from app.storage.embedded import EmbeddedPostgres
os.setgroups([]); os.setgid(65534); os.setuid(65534)
postgres = EmbeddedPostgres(Path(sys.argv[1]) / "own")
postgres.start()
print(postgres.url().database)
postgres.stop()
"""
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "bezmen\n"), done.stderr
    assert (folder / "own").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ("INSERT INTO tokenizers (fingerprint, name, vocabulary) VALUES ('x', 'x', 1)", "fingerprint_is_sha256"),
        ("INSERT INTO tokenizers (fingerprint, name, vocabulary) VALUES (repeat('0', 64), NULL, 1)", "name"),
        ("INSERT INTO events (run_id, kind, actor, body) VALUES (99, 'x', 'x', '{}')", "fk_events_run_id_runs"),
    ],
)
async def test_a_row_that_breaks_a_rule_is_no_fault_of_ours(database: Database, query: str, rule: str) -> None:
    """Catches a body that got as far as the tables and ends in a 500; the answer names the rule."""
    with pytest.raises(RuleBroken, match=rule) as caught:
        async with database.transaction() as connection:
            await connection.execute(text(query))
    assert caught.value.status == 422


@pytest.mark.parametrize(
    ("given", "said"), [("garbage", "is no address"), ("postgres://h:port/x", "is no address"), ("mysql://h/secret", "kind mysql")]
)
def test_addresses_that_are_none(given: str, said: str) -> None:
    """Catches a MySQL that is spoken to in the tongue of Postgres, and a password in a log."""
    with pytest.raises(BadAddress, match=said) as caught:
        address(given)
    assert "secret" not in str(caught.value)


def test_addresses_as_people_write_them() -> None:
    """Catches a DATABASE_URL that only works with our driver's name in it."""
    for text_ in ("postgres://u:p@h/d", "postgresql://u:p@h/d", "postgresql+psycopg://u:p@h/d"):
        assert address(text_).render_as_string(hide_password=False) == "postgresql+psycopg://u:p@h/d"


def test_starting_is_quick(folder: Path) -> None:
    """Catches a start that waits for something that never comes."""
    began = time.monotonic()
    EmbeddedPostgres(folder).start()
    assert time.monotonic() - began < 40


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")
def test_binaries_that_the_databases_user_cannot_reach(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a checkout under /root: the server's user cannot run what lies there, and /root must stay closed."""
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    wheel = host.package()
    for part in (Path(host.PACKAGE) / f"pginstall{host.VERSION}", Path(f"{host.PACKAGE}.libs")):
        shutil.copytree(wheel.parent / part, closed / part, symlinks=True)
    monkeypatch.setattr(host, "package", lambda: closed / host.PACKAGE)
    data = folder / "data"
    postgres = EmbeddedPostgres(data)
    for _ in range(2):
        postgres.start()
        assert ask(postgres.url()) == 1
        postgres.stop()
    assert closed.stat().st_mode & 0o777 == 0o700


def test_a_secret_of_another_database(folder: Path) -> None:
    """Catches a minute of waiting, and no reason, when the password file was replaced."""
    postgres = EmbeddedPostgres(folder)
    postgres.start()
    postgres.stop()
    (folder / "pg.secret").write_text("another")
    with pytest.raises(EmbeddedError, match="does not belong to the database"):
        postgres.start()


def test_a_copy_without_its_owners_is_told_what_to_do(folder: Path) -> None:
    """Catches the log of a Postgres that may not read its own folder in the place of a sentence."""
    assert host.foreign(folder, os.geteuid()) is None
    assert host.foreign(folder, os.geteuid() + 1) == host.user(os.geteuid())
    host.prepare(folder)
    (folder / "pg").mkdir()
    (folder / "pg" / "PG_VERSION").write_text(str(host.VERSION))
    check = EmbeddedPostgres(folder)._check_owner
    if not host.is_root():
        check()
        return
    with pytest.raises(EmbeddedError, match=rf"belongs to user root, .*chown -R {host.OS_USER}"):
        check()
