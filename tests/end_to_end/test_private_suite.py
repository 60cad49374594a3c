"""A private suite on the real model: measured like any other, and its text is on no disk but the database's when the run is over."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.domain.facts import FACT, RequestFact
from app.domain.suite import parse
from tests.end_to_end.conftest import Site

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]
SECRET = "the lighthouse keeper irons his maps"
TEXTS = (f"Why would anybody say that {SECRET}? Think of two reasons.", f"Tell me a short story in which {SECRET} every Sunday.")
PROMPTS = [{"id": f"p{n}", "language": "en", "profile": "dialogue", "answer": "prompt", "text": text} for n, text in enumerate(TEXTS)]
SUITE = {"id": "closed-v1"}


def told(site: Site) -> list[Path]:
    """Files of the service and its runners that hold a word of the suite; the database is where it belongs."""
    files = [path for path in site.data.rglob("*") if path.is_file() and not {"models", "pg"} & set(path.relative_to(site.data).parts)]
    return [path for path in files if SECRET.encode() in path.read_bytes()]


def spooled(site: Site) -> list[Path]:
    return list((site.data / "runner" / "spool").rglob("job.json"))


@pytest.fixture(scope="module")
def runner(site: Site) -> "subprocess.Popen[str]":
    return site.runner()


def test_a_private_suite_is_measured_and_forgotten(site: Site, runner: "subprocess.Popen[str]") -> None:
    """Catches prompts that stay in a spool or a log, and answers that leave the runner as more than digests."""
    file = site.data / "closed-v1.jsonl"
    file.write_text("\n".join(map(json.dumps, PROMPTS)))
    command = [sys.executable, "-m", "app.cli", "suite", "upload", str(file), "--private"]
    sent = subprocess.run(command, env=site.environment | {"BEZMEN_URL": site.url}, capture_output=True, text=True, check=False)
    assert (sent.returncode, sent.stdout.splitlines()[0]) == (0, f"suite closed-v1 {site.url}/suites/closed-v1"), sent.stderr
    digest = parse("closed-v1", file.read_bytes())[0].digest
    file.unlink()
    run = site.submit(suite=SUITE, max_new_tokens=12)
    ended = site.until(run, "succeeded", "failed")
    assert ended["state"] == "succeeded", ended["failure"]
    requests = [f for f in map(FACT.validate_json, site.http.get(f"/api/v1/runs/{run}/facts").text.splitlines()) if isinstance(f, RequestFact)]
    assert {fact.prompt for fact in requests} == {"p0", "p1"}
    assert {(fact.output_ids, fact.output_text) for fact in requests} == {(None, None)}
    assert all(fact.emitted > 0 and fact.prompt_words > 8 for fact in requests)
    report = site.http.get(f"/api/v1/runs/{run}/report").json()
    assert (report["passport"]["suite_digest"], report["passport"]["suite"]) == (digest, "closed-v1")
    assert any("private" in note["text"] for note in report["notes"])
    exact = next(found for found in report["losslessness"] if found["dtype"] == "float32")
    assert (exact["equal"], exact["n"]) == (2, 2)
    site.wait(lambda: not spooled(site), "the spool to be empty")
    assert told(site) == []


def test_a_runner_that_is_killed_leaves_no_prompt_behind(site: Site, runner: "subprocess.Popen[str]") -> None:
    """Catches private text that lies in the spool of a machine whose runner does not come back."""
    run = site.submit(suite=SUITE, max_new_tokens=64, trials=8)
    site.until_stage(run, "warming")
    assert told(site) != []
    os.kill(runner.pid, signal.SIGKILL)
    site.wait(lambda: not spooled(site), "the measuring process to clean up")
    assert told(site) == []
    site.http.post(f"/api/v1/runs/{run}/cancel")
