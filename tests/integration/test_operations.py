"""What whoever runs the service sees of it: readiness, metrics, the log."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import ValidationError

from app.attempts.schemas import FinishIn
from app.operations.logs import REQUESTS, Lines, Style
from app.storage.database import Database
from app.storage.migrate import head
from tests import factories
from tests.integration.conftest import Service, serving

SECRET = "Sentinel-of-a-private-prompt"
PASSWORD = "sentinel-password-77"


class Written:
    """The log of a test, as the service would have written it."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture(params=["json", "text"])
def style(request: pytest.FixtureRequest) -> Style:
    found: Style = request.param
    return found


@pytest.fixture
def log(style: Style) -> Iterator[Written]:
    written = Written()
    handler = logging.StreamHandler(written.stream)
    handler.setFormatter(Lines(style))
    root, requests = logging.getLogger(), logging.getLogger(REQUESTS)
    root.addHandler(handler)
    requests.setLevel(logging.INFO)
    yield written
    root.removeHandler(handler)
    requests.setLevel(logging.NOTSET)


# --- the log ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["json"])
async def test_every_line_names_request_and_run(service: Service, log: Written, style: Style) -> None:
    """Catches a line that cannot be matched with the request or the run that it is about, and a route told with its values."""
    answer = await service.client.get("/api/v1/runs/41", headers={"X-Request-Id": "from-the-proxy.7"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (404, "from-the-proxy.7")
    line = log.lines()[-1]
    assert {name: line[name] for name in ("request", "run", "method", "route", "status")} == {
        "request": "from-the-proxy.7", "run": 41, "method": "GET", "route": "/api/v1/runs/{run}", "status": 404,
    }  # fmt: skip
    assert line["seconds"] > 0


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, 'a"b', "bzt_0123456789abcdef"])
@pytest.mark.parametrize("style", ["json"])
async def test_a_number_that_cannot_stand_in_a_log_is_replaced(service: Service, log: Written, style: Style, given: str) -> None:
    """Catches a caller who writes into our log."""
    answer = await service.client.get("/api/v1/healthz", headers={"X-Request-Id": given})
    number = answer.headers["x-request-id"]
    assert number != given
    assert log.lines()[-1]["request"] == number


async def test_a_fault_quotes_the_number_of_its_request(service: Service, log: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a person who reports a code that no line of the log has; and an exception whose message is somebody's text."""

    async def broken(*_: object) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr(type(service.app.state.runs), "get", broken)
    answer = await service.client.get("/runs/41", headers={"Accept": "text/html", "X-Request-Id": "asked-77"})
    assert answer.status_code == 500
    assert answer.headers["x-request-id"] == "asked-77"
    assert "asked-77" in answer.text
    assert "asked-77" in log.text
    assert "builtins.ValueError" in log.text
    assert SECRET not in log.text + answer.text


async def test_nothing_secret_is_written_down(service: Service, log: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a token, password or prompt in the log: of good and bad requests, of rows that break rules, of faults with values in their words."""
    await service.offer()
    await service.run()
    attempt = await service.lease()
    facts = factories.facts()
    await attempt.send(0, [*facts[:4], facts[3]])
    await service.client.post("/api/v1/runs", json=factories.spec_body() | {"language": SECRET}, headers=service.admin)
    await service.client.get(f"/api/v1/runs/{SECRET}?q={SECRET}", headers={"X-Request-Id": service.admin["Authorization"]})
    await service.client.post("/login", data={"name": "ada", "password": PASSWORD}, headers={"Sec-Fetch-Site": "same-origin"})
    with pytest.raises(ValidationError) as wrong:
        FinishIn.model_validate({"batches": SECRET, "finish": SECRET})

    async def broken(*_: object) -> None:
        raise wrong.value

    monkeypatch.setattr(type(service.app.state.runs), "get", broken)
    await service.client.get("/api/v1/runs/1")
    said = logging.getLogger("app.somewhere")
    token = service.admin["Authorization"].removeprefix("Bearer ")
    said.warning("Authorization: Bearer %s, postgresql://bezmen:%s@host/x, password='%s'", token, PASSWORD, PASSWORD)
    secrets = [SECRET, PASSWORD, *(headers["Authorization"].removeprefix("Bearer ") for headers in (service.admin, service.runner, attempt.headers))]
    assert len(log.text.splitlines()) > 5
    assert [secret for secret in secrets if secret in log.text] == []


# --- readiness --------------------------------------------------------------------------------------------------------------------------


async def test_ready_until_it_stops(service: Service) -> None:
    """Catches a balancer that sends requests to a service that is going away."""
    await heard(service)
    answer = await service.get("/api/v1/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "schema": head()})
    service.app.state.notifications.stop()
    stopped = await service.get("/api/v1/readyz")
    assert (stopped.status_code, stopped.json()["detail"]) == (503, "The service is stopping.")
    assert (await service.get("/api/v1/healthz")).status_code == 200


async def test_not_ready_on_another_schema(service: Service) -> None:
    """Catches a service of this version in front of a database that another version has migrated."""
    await heard(service)
    await service.sql("UPDATE alembic_version SET version_num = '9999'")
    try:
        answer = await service.get("/api/v1/readyz")
    finally:
        await service.sql("UPDATE alembic_version SET version_num = :head", head=head())
    assert answer.status_code == 503
    assert "9999" in answer.json()["detail"]


async def test_not_ready_while_the_queue_is_not_heard(service: Service) -> None:
    """Catches a service that looks well and hands out no runs."""
    await heard(service)
    service.app.state.notifications.listening = False
    assert "does not hear of the queue" in (await service.get("/api/v1/readyz")).json()["detail"]


async def heard(service: Service) -> None:
    """The listener connects beside everything else."""
    for _ in range(200):
        if service.app.state.notifications.listening:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the listener never came up")


# --- metrics ----------------------------------------------------------------------------------------------------------------------------


async def sampled(service: Service, headers: dict[str, str] | None = None) -> dict[str, float]:
    """Every sample as Prometheus reads it: its name with its labels, and its value."""
    answer = await service.client.get("/metrics", headers=headers or {})
    assert answer.status_code == 200, answer.text
    families = text_string_to_metric_families(answer.text)
    return {s.name + "".join(f",{name}={value}" for name, value in sorted(s.labels.items())): s.value for family in families for s in family.samples}


async def test_the_line_and_the_runners_in_numbers(service: Service) -> None:
    """Catches a number that says something else than the tables: depth, age, leases, ends of attempts, lost runners, what came in."""
    run = await service.finished()
    await service.run(trials=5)
    await service.run(trials=6, labels={"gpu": "h200"})
    await service.lease()
    await service.sql("UPDATE runs SET created_at = created_at - interval '1 hour' WHERE state = 'queued'")
    found = await sampled(service)
    assert found["bezmen_queue_depth,labels=gpu=h200"] == 1
    assert 3600 <= found["bezmen_queue_oldest_seconds,labels=gpu=h200"] < 3700
    assert "bezmen_queue_depth,labels=any" not in found
    assert (found["bezmen_leases"], found["bezmen_attempts,end=succeeded"], found["bezmen_runners,state=live"]) == (1, 1, 1)
    assert found["bezmen_runs,state=succeeded"] == 1
    rows = await service.sql("SELECT count(*), count(DISTINCT attempt_id) FROM requests")
    assert (found["bezmen_facts_request_rows_total"], found["bezmen_facts_batches_total"]) == (rows[0][0], 3)
    refused = await service.sql("SELECT cell ->> 'field', count(*) FROM figures WHERE kind = 'refusal' GROUP BY 1")
    assert {name: value for name, value in found.items() if name.startswith("bezmen_figures_refused")} == {
        f"bezmen_figures_refused,reason={field}": count for field, count in refused
    }
    assert found["bezmen_http_seconds_count,method=POST,route=/api/v1/attempts/{attempt}/facts,status=200"] == 3
    await service.expire()
    await service.sweep()
    assert (await sampled(service))["bezmen_attempts,end=silent"] == 1
    assert not any(str(run) == part.partition("=")[2] for name in found for part in name.split(",")[1:])


async def test_metrics_tell_a_project_of_its_own_runs(database: Database) -> None:
    """Catches the length of one project's line told to another, names of projects and titles in labels, and numbers for nobody's eyes."""
    async with serving(database, host="0.0.0.0", url="http://bench.example:8000") as public:
        await public.offer()
        mine, theirs = await public.token("read", "submit", project="sentinel-project"), await public.token("read", project="theirs")
        await public.offer(await public.token("runner", project="sentinel-project"))
        body = {"title": "Sentinel title", "runs": [factories.spec_body(), factories.spec_body(trials=5)]}
        made = await public.client.post("/api/v1/campaigns", json=body, headers=mine)
        assert made.status_code == 201, made.text
        own, others = await sampled(public, mine), await sampled(public, theirs)
        assert [value for name, value in own.items() if name.startswith("bezmen_queue_depth")] == [2]
        assert not [name for name in others if name.startswith(("bezmen_queue", "bezmen_runs"))]
        assert not [name for name in own if "entinel" in name]
        assert (await public.get("/metrics")).status_code == 401


async def test_paths_that_nothing_serves_are_one(service: Service) -> None:
    """Catches a caller who fills the memory of whoever watches with labels."""
    for path in ("/nothing/1", "/nothing/2", "/runs/abc"):
        await service.get(path)
    await service.client.request("BREW", "/nothing/3")
    routes = {name.split("route=")[1].split(",")[0] for name in await sampled(service) if "route=" in name}
    assert "none" in routes
    assert not [route for route in routes if "nothing" in route or "abc" in route]
    assert not [name for name in await sampled(service) if "BREW" in name]
