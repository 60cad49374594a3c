"""A real Postgres for the whole session, an empty database for every test, and the application on top of it."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from app.domain.facts import AnyFact
from app.main import create_app
from app.settings import Settings
from app.storage.database import Database
from app.storage.embedded import EmbeddedPostgres
from app.storage.migrate import migrate
from app.storage.schema import METADATA
from tests import factories

PATIENCE = 60.0
QUEUE_TABLES = ("procrastinate_jobs", "procrastinate_events", "procrastinate_workers", "procrastinate_periodic_defers")


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    # Outside pytest's own directories: the database's user cannot pass those when root runs the tests.
    folder = Path(tempfile.mkdtemp(prefix="bezmen-test-"))
    server = EmbeddedPostgres(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
async def migrated(postgres: EmbeddedPostgres) -> AsyncIterator[Database]:
    database = Database(postgres.url())
    await migrate(database)
    yield database
    await database.close()


@pytest.fixture
async def database(migrated: Database) -> Database:
    """Empty."""
    names = ", ".join([*(table.name for table in METADATA.sorted_tables), *QUEUE_TABLES])
    async with migrated.transaction() as connection:
        await connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
        await connection.execute(text("INSERT INTO projects (name) VALUES ('default')"))
    return migrated


def batch(number: int, facts: Sequence[AnyFact]) -> dict[str, Any]:
    return raw_batch(number, "[" + ",".join(fact.model_dump_json() for fact in facts) + "]")


def raw_batch(number: int, body: str) -> dict[str, Any]:
    return {"number": number, "digest": hashlib.sha256(body.encode()).hexdigest(), "facts": body}


@dataclass
class Attempt:
    """A leased attempt, as its runner holds it."""

    client: httpx.AsyncClient
    run: int
    number: int
    id: int
    headers: dict[str, str]

    async def post(self, verb: str, body: dict[str, Any]) -> httpx.Response:
        return await self.client.post(f"/api/v1/attempts/{self.id}/{verb}", json=body, headers=self.headers)

    async def beat(self) -> httpx.Response:
        return await self.post("heartbeat", {})

    async def send(self, number: int, facts: Sequence[AnyFact]) -> httpx.Response:
        return await self.post("facts", batch(number, facts))

    async def finish(self, batches: int, **over: Any) -> httpx.Response:
        return await self.post("finish", {"batches": batches, "finish": factories.finish_fact(**over).model_dump(mode="json")})

    async def measure(self, **over: Any) -> int:
        """Sends everything of a good run in three batches; how many batches that were."""
        facts = factories.facts(**over)
        parts = [facts[:4], facts[4:40], facts[40:]]
        for number, part in enumerate(parts):
            answer = await self.send(number, part)
            assert answer.status_code == 200, answer.text
        return len(parts)


@dataclass
class Service:
    """The running application, and tokens for those who talk to it."""

    app: FastAPI
    client: httpx.AsyncClient
    database: Database
    admin: dict[str, str]
    runner: dict[str, str]

    async def token(self, *scopes: Any, project: str = "default") -> dict[str, str]:
        await self.app.state.access.add_project(project)
        return bearer(await self.app.state.access.create("-".join(scopes), scopes, project))

    async def offer(self, headers: dict[str, str] | None = None, **over: Any) -> httpx.Response:
        body = factories.offer(**over).model_dump(mode="json", by_alias=True)
        return await self.client.put("/api/v1/runners/me/offer", json=body, headers=headers or self.runner)

    async def submit(self, key: str | None = None, headers: dict[str, str] | None = None, **over: Any) -> httpx.Response:
        extra = {"Idempotency-Key": key} if key else {}
        return await self.client.post("/api/v1/runs", json=factories.spec_body(**over), headers=(headers or self.admin) | extra)

    async def run(self, **over: Any) -> int:
        answer = await self.submit(**over)
        assert answer.status_code == 201, answer.text
        return int(answer.json()["id"])

    async def ask_lease(self, wait: float = 0, headers: dict[str, str] | None = None) -> httpx.Response:
        return await self.client.post("/api/v1/runners/me/lease", json={"wait_seconds": wait}, headers=headers or self.runner)

    async def lease(self, headers: dict[str, str] | None = None) -> Attempt:
        answer = await self.ask_lease(headers=headers)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        return Attempt(self.client, body["run"], body["attempt"], body["attempt_id"], bearer(body["token"]))

    async def finished(self, **over: Any) -> int:
        """A run that has succeeded; `over` goes to the facts, `language` to the spec too."""
        await self.offer()
        run = await self.run(**{name: value for name, value in over.items() if name in {"language", "drafter"}})
        attempt = await self.lease()
        batches = await attempt.measure(**{name: value for name, value in over.items() if name != "drafter"})
        answer = await attempt.finish(batches)
        assert answer.status_code == 200, answer.text
        return run

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.client.get(path, headers=headers)

    async def state(self, run: int) -> dict[str, Any]:
        found: dict[str, Any] = (await self.get(f"/api/v1/runs/{run}")).json()
        return found

    async def expire(self) -> None:
        """As if every lease had run out."""
        await self.sql("UPDATE attempts SET lease_expires_at = clock_timestamp() - interval '1 second' WHERE state IN ('leased', 'running')")

    async def sweep(self) -> int:
        lost: int = await self.app.state.attempts._sweeper.sweep()
        return lost

    async def sql(self, query: str, **values: Any) -> list[tuple[Any, ...]]:
        async with self.database.transaction() as connection:
            result = await connection.execute(text(query), values)
            return [tuple(row) for row in result] if result.returns_rows else []


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@asynccontextmanager
async def serving(database: Database, **over: Any) -> AsyncIterator[Service]:
    settings = Settings(database_url=database.url.render_as_string(hide_password=False), **over)
    app = create_app(settings)
    # The address of the client is a loopback one, as the host check wants it.
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", timeout=60) as client:
        admin = bearer(await app.state.access.create("admin", ("read", "submit", "admin")))
        runner = bearer(await app.state.access.create("local", ("runner",)))
        yield Service(app, client, database, admin, runner)


@pytest.fixture
async def service(database: Database) -> AsyncIterator[Service]:
    async with serving(database) as running:
        yield running


@dataclass
class Place:
    """A data directory, and commands that use it."""

    data: Path
    environment: dict[str, str]

    def start(self, *arguments: str, **over: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "app.cli", *arguments]
        return subprocess.Popen(
            command, env=self.environment | over, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def run(self, *arguments: str, **over: str) -> tuple[int, str, str]:
        process = self.start(*arguments, **over)
        out, error = process.communicate(timeout=PATIENCE)
        return process.returncode, out, error

    @contextlib.contextmanager
    def serving(self) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
        process = self.start("serve")
        try:
            yield ready(process), process
        finally:
            process.kill()
            process.communicate(timeout=PATIENCE)


def ready(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("ready "):
            return line.removeprefix("ready ").strip()
    raise AssertionError(process.communicate()[1])


@pytest.fixture
def place() -> Iterator[Place]:
    folder = Path(tempfile.mkdtemp(prefix="bezmen-test-"))
    folder.chmod(0o755)
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("BEZMEN_", "DATABASE_URL"))}
    yield Place(folder, ours | {"BEZMEN_DATA": str(folder), "BEZMEN_PORT": "0", "PYTHONPATH": str(Path.cwd())})
    EmbeddedPostgres(folder).stop()
    shutil.rmtree(folder)
