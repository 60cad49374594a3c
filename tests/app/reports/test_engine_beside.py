"""An engine's own numbers beside ours: equal where definitions agree, explained where they do not, and silent where ours are refused."""

from dataclasses import replace
from typing import Any

import pytest

from app.domain.counts import Counts
from app.domain.outside.reading import Reading
from app.domain.spec import RunSpec
from app.metrics.catalogue import METRICS
from app.reports.build import build
from app.reports.format import say
from app.reports.imported_shown import held
from app.reports.record import RunRecord
from tests import factories, factories_served


def record(*, version: str = "llama.cpp b11434", forced: str | None = None, counted: bool = True, spec: RunSpec | None = None) -> RunRecord:
    """A run on a server whose counters say what its requests do."""
    found = factories.record(spec=spec or factories_served.run_spec(trials=2, load={"concurrency": 1}), prompts=8, passes=4)
    trials = []
    for trial in found.trials:
        own = [each.counts() for each in found.requests if (each.arm, each.trial, each.purpose) == (trial.arm, trial.trial, trial.purpose)]
        names = ("emitted", "rounds", "drafted", "verified", "undrafted", "prefill_tokens")
        total = {name: sum(getattr(each, name) for each in own) for name in names}
        reading = Reading(engine="llama.cpp", shape="metrics", counts=Counts(requests=len(own), **total), counts_before_stop=True, forced=forced)
        trials.append(trial.model_copy(update={"counted": reading, "foreign": 0} if counted and trial.arm != "control" else {}))
    kept = tuple(each for each in found.requests if each.arm != "control")
    told = {"preflight": factories.preflight_fact(engine_version=version), "requests": kept, "trials": tuple(t for t in trials if t.arm != "control")}
    return found.model_copy(update=told)


def told(found: RunRecord) -> dict[tuple[str, str | None], Any]:
    return {(each.name, each.figure): each for each in build(found).beside}


def test_an_engine_that_hides_steps_without_a_draft_is_seen_through() -> None:
    """Catches "mean len 4.6" read as the tokens of a forward, where the engine leaves out every step that drafted nothing."""
    rows = told(record())
    assert set(rows) == {("mean len", "tokens_per_round"), ("mean len", "tokens_per_target_forward"), ("draft acceptance", "acceptance_rate")}
    assert rows["mean len", "tokens_per_round"].same
    assert rows["draft acceptance", "acceptance_rate"].same
    hidden = rows["mean len", "tokens_per_target_forward"]
    assert hidden.ours is not None
    assert hidden.value > hidden.ours
    assert say(hidden.why) == "The tool hides steps without a draft: it divides by rounds alone."


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_one_word_beside_two_figures_says_what_each_counts(locale: str) -> None:
    """Catches "mean len" twice with two numbers of ours, and nothing that tells the rows apart."""
    lines = [held(each, locale) for each in build(record()).beside]
    assert len({(line.counts, line.figure, line.formula) for line in lines}) == len(lines) == 3
    assert all(line.counts and line.formula for line in lines)
    if locale == "en":
        assert {line.counts for line in lines} == {"1 + kept drafts ÷ rounds with a draft", "kept drafts ÷ drafts"}
        assert {line.formula for line in lines} == {"1 + ΣV / ΣR", "(ΣE − ΣP) / Σ(R + U)", METRICS["acceptance_rate"].formula}


def test_vllm_has_names_of_its_own() -> None:
    """Catches one engine's figures under another's names."""
    assert {name for name, _ in told(record(version="vllm 0.32.0"))} == {"Mean acceptance length", "Avg Draft acceptance rate"}


def test_sglang_divides_all_tokens_by_rounds() -> None:
    """Catches E/R taken for tokens per round: the prefill's token and undrafted steps are in it."""
    row = told(record(version="sglang 0.5.23"))["spec_accept_length", "tokens_per_round"]
    assert not row.same
    assert say(row.why).startswith("The tool divides all delivered tokens by rounds")


def test_without_counters_its_requests_are_its_word() -> None:
    """Catches a table that is there only for engines with metrics."""
    assert told(record(counted=False)).keys() == told(record()).keys()


@pytest.mark.parametrize(
    "found", [record(version="openai"), record(forced="--spec-synth-rates"), factories.record(), record(version="llama.cpp-like 1")]
)
def test_what_is_refused_or_unknown_is_not_told_in_other_words(found: RunRecord) -> None:
    """Catches an acceptance that was made up, shown as the engine's own number beside the refusal of ours."""
    assert build(found).beside == ()


def test_a_count_that_is_not_told_gives_no_number() -> None:
    """Catches R that was never told, taken for 0 or for our own."""
    whole = record(counted=False)
    requests = tuple(
        each.model_copy(update={"rounds": None, "undrafted": None, "round_drafted": (), "round_verified": (), "round_depth": (), "round_slots": (),
                                "round_step": None}) if each.arm == "speculative" else each
        for each in whole.requests
    )  # fmt: skip
    assert {name for name, _ in told(whole.model_copy(update={"requests": requests}))} == {"draft acceptance"}


def test_counts_of_another_size_are_not_read() -> None:
    """Catches totals of more requests than ours, taken for this run's."""
    found = record()
    trials = tuple(
        trial.model_copy(update={"counted": trial.counted.model_copy(update={"counts": replace(trial.counted.counts, requests=99, verified=1)})})
        if trial.counted is not None and trial.arm == "speculative"
        else trial
        for trial in found.trials
    )
    assert told(found.model_copy(update={"trials": trials})) == {}
