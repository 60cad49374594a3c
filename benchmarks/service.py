"""A service of its own, as `bezmen serve` starts it: one process, and a real Postgres that it brings."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg

from app.domain.facts import AnyFact
from app.domain.protocol import PROTOCOL
from app.storage.embedded import EmbeddedPostgres
from benchmarks.base import NotMeasured
from tests import factories

WAIT_SECONDS = 120.0
# Facts in one batch, as a runner sends them at most.
BATCH = 500
# A benchmark submits more than anybody should.
QUEUED = "100000"


@dataclass(frozen=True)
class Attempt:
    """A leased attempt, as its runner holds it."""

    client: httpx.Client
    run: int
    id: int
    headers: dict[str, str]

    def send(self, first: int, bodies: Sequence[dict[str, Any]]) -> int:
        """Batches one after the other, the first with the number `first`; the number of the next."""
        for number, body in enumerate(bodies, start=first):
            self._post("facts", body | {"number": number})
        return first + len(bodies)

    def finish(self, batches: int) -> None:
        self._post("finish", {"batches": batches, "finish": factories.finish_fact().model_dump(mode="json")})

    def _post(self, verb: str, body: dict[str, Any]) -> None:
        self.client.post(f"/api/v1/attempts/{self.id}/{verb}", json=body, headers=self.headers).raise_for_status()


def batches(facts: Sequence[AnyFact], size: int = BATCH) -> list[dict[str, Any]]:
    """Bodies of facts, still without their numbers."""
    texts = ["[" + ",".join(fact.model_dump_json() for fact in facts[at : at + size]) + "]" for at in range(0, len(facts), size)]
    return [{"digest": hashlib.sha256(text.encode()).hexdigest(), "facts": text} for text in texts]


@dataclass(frozen=True)
class Service:
    """`client` may do everything; `runner` are the headers of the service's own runner."""

    client: httpx.Client
    database: psycopg.Connection[Any]
    runner: dict[str, str]

    def offer(self) -> None:
        body = factories.offer().model_dump(mode="json", by_alias=True)
        self.client.put("/api/v1/runners/me/offer", json=body, headers=self.runner).raise_for_status()

    def submit(self, **over: Any) -> int:
        answer = self.client.post("/api/v1/runs", json=factories.spec_body(**over)).raise_for_status()
        return int(answer.json()["id"])

    def lease(self) -> Attempt:
        """One run. Raises NotMeasured where nothing waits."""
        return self.lease_all()[0]

    def lease_all(self) -> list[Attempt]:
        """A run, and those of its campaign that are measured beside it. Raises NotMeasured where nothing waits."""
        answer = self.client.post("/api/v1/runners/me/lease", json={"wait_seconds": 0, "protocol": PROTOCOL}, headers=self.runner).raise_for_status()
        if answer.status_code != httpx.codes.OK:
            raise NotMeasured("No run was leased although one waits.")
        body = answer.json()
        return [
            Attempt(self.client, each["run"], each["attempt_id"], {"Authorization": f"Bearer {each['token']}"}) for each in (body, *body["siblings"])
        ]

    def settle(self) -> None:
        """Until no report was computed for a while: the last run of a campaign to end has those of all others computed anew."""
        built = "SELECT count(*) FROM reports WHERE built_at > clock_timestamp() - interval '3 seconds'"
        while (found := self.database.execute(built).fetchone()) is not None and found[0]:
            time.sleep(1)

    def cancel(self, run: int) -> None:
        self.client.post(f"/api/v1/runs/{run}/cancel").raise_for_status()


@contextlib.contextmanager
def serving() -> Iterator[Service]:
    """A fresh service, with an offer published. Raises NotMeasured where it does not start."""
    folder = Path(tempfile.mkdtemp(prefix="bezmen-bench-"))
    # The database's user passes the folder where root measures.
    folder.chmod(0o755)
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("BEZMEN_", "DATABASE_URL"))}
    environment = ours | {"BEZMEN_DATA": str(folder), "BEZMEN_PORT": "0", "BEZMEN_QUEUED_PER_TOKEN": QUEUED}
    with (folder / "serve.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "app.cli", "serve"], env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        with _client(process) as client, _database(folder) as database:
            client.headers.update(_bearer(folder / "admin.token"))
            service = Service(client, database, _bearer(folder / "runner.token"))
            service.offer()
            yield service
    finally:
        process.terminate()
        process.communicate(timeout=WAIT_SECONDS)
        EmbeddedPostgres(folder).stop()
        shutil.rmtree(folder)


def _bearer(file: Path) -> dict[str, str]:
    return {"Authorization": f"Bearer {file.read_text().strip()}"}


def _client(process: "subprocess.Popen[str]") -> httpx.Client:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("ready "):
            return httpx.Client(base_url=line.removeprefix("ready ").strip(), timeout=WAIT_SECONDS)
    raise NotMeasured("The service did not start.")


def _database(folder: Path) -> psycopg.Connection[Any]:
    url = EmbeddedPostgres(folder).url()
    return psycopg.connect(host=str(url.query["host"]), user=url.username, password=url.password, dbname=url.database, autocommit=True)
