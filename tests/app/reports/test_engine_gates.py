"""What a served engine tells of itself may refuse a run; and its output is held against plain's, which is held against itself."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.domain.estimate import Absent, Figure, Refusal
from app.domain.facts import RequestFact, TrialFact
from app.metrics.sums import OF_TRIAL
from app.reports.build import build, measured
from app.reports.export import report_rows
from app.reports.format import say
from app.reports.record import RunRecord
from app.reports.report import Gate, Report
from app.web.losslessness import output
from tests.factories_told import parted, record, told_trials, untold

BASE = record()
PROMPTS = sorted({fact.prompt for fact in BASE.requests})


def gate(report: Report, name: str) -> Gate:
    return next(each for each in report.gates if each.name == name)


def requests(base: RunRecord, change: Callable[[RequestFact], RequestFact]) -> RunRecord:
    return base.model_copy(update={"requests": tuple(map(change, base.requests))})


def trials(base: RunRecord, change: Callable[[TrialFact], dict[str, Any]]) -> RunRecord:
    return base.model_copy(update={"trials": tuple(trial.model_copy(update=change(trial)) for trial in base.trials)})


def speculative(fact: RequestFact | TrialFact) -> bool:
    return fact.arm == "speculative"


def differing(base: RunRecord, arm: str, names: list[str], passes: set[int]) -> RunRecord:
    return requests(base, lambda fact: parted(fact) if fact.arm == arm and fact.prompt in names and fact.trial in passes else fact)


def test_a_run_on_a_served_engine_has_its_verdict() -> None:
    """Catches gates of our own loop, its control and its float32 trial, that no served engine could ever pass."""
    report = build(BASE)
    assert report.verdict.outcome == "pays"
    assert [each.name for each in report.gates if each.refused] == []
    assert [each.dtype for each in report.losslessness] == ["bfloat16"]
    assert say(gate(report, "engine totals").sentence) == "In 8 trials the requests add up to what the engine counted itself."
    assert say(gate(report, "foreign traffic").sentence) == "The server answered no requests but ours."


def test_requests_of_others_refuse() -> None:
    """Catches acceptance and speed of a server that somebody else used meanwhile, in either arm."""
    for arm in ("plain", "speculative"):
        told = trials(BASE, lambda trial, arm=arm: {"foreign": 3 if (trial.arm, trial.trial) == (arm, 1) else 0})
        report = build(told)
        assert isinstance(report.find(report.headline), Refusal)
        cell = report.find("acceptance_rate")
        assert isinstance(cell, Refusal)
        assert (cell.field, gate(report, "foreign traffic").failing) == ("foreign traffic", 3)
        assert "3 of 96 requests that the server answered meanwhile were not ours" in say(report.answer)


def test_made_up_acceptance_refuses() -> None:
    """Catches a benchmark setting that passes for a drafter."""

    def made_up(trial: TrialFact) -> dict[str, Any]:
        assert trial.counted is not None
        return {"counted": trial.counted.model_copy(update={"forced": "--spec-synth-rates"})} if speculative(trial) else {}

    report = build(trials(BASE, made_up))
    cell = report.find("acceptance_rate")
    assert isinstance(cell, Refusal)
    assert cell.field == "forced acceptance"
    assert "acceptance was made up by --spec-synth-rates" in say(report.answer)
    assert report.verdict.outcome == "cannot tell"
    assert report.prompts == ()


def test_what_neither_requests_nor_totals_tell_is_what_is_missing() -> None:
    """Catches "the engine does not tell rounds" beside a figure made of its rounds, and figures of what no engine counts that break the report."""
    passes = ("draft_layer_passes", "verify_layer_passes")
    alone = requests(BASE, lambda fact: untold(fact, "rounds", "undrafted", "accepted", "discarded_bonus", *passes) if speculative(fact) else fact)

    def without(trial: TrialFact) -> dict[str, Any]:
        assert trial.counted is not None
        counts = replace(trial.counted.counts, undrafted=None)
        return {"counted": trial.counted.model_copy(update={"counts": counts})} if speculative(trial) else {}

    report = build(trials(alone, without))
    cell = report.find("tokens_per_target_forward")
    assert isinstance(cell, Absent)
    assert "steps without a draft, U" in say(cell.reason)
    assert report.find("layer_passes_per_token") is not None


def drafting_with(digest: str) -> RunRecord:
    assert BASE.preflight is not None
    return BASE.model_copy(update={"preflight": BASE.preflight.model_copy(update={"drafter_weights_digest": digest})})


def test_a_target_that_drafts_for_itself_is_no_drafter() -> None:
    """Catches the best acceptance of all as a headline; what was counted stays, since it tries an engine's counters out."""
    assert BASE.preflight is not None
    report = build(drafting_with(BASE.preflight.weights_digest))
    cell = report.find("acceptance_rate")
    assert isinstance(cell, Refusal)
    assert cell.field == "forced acceptance"
    assert "the drafter's model is the target itself" in say(report.answer)
    assert gate(report, "engine totals").n
    assert not gate(build(drafting_with("f" * 64)), "forced acceptance").refused


@pytest.mark.parametrize(
    ("name", "sign"), [("verified", "V"), ("drafted", "D"), ("rounds", "R"), ("undrafted", "U"), ("emitted", "E"), ("requests", "N")]
)
def test_totals_that_are_not_the_requests_refuse_with_both_numbers(name: str, sign: str) -> None:
    """Catches requests that tell less, or more, than the engine did for them."""

    def one_more(trial: TrialFact) -> dict[str, Any]:
        assert trial.counted is not None
        if not speculative(trial) or trial.trial != 2:
            return {}
        counts = vars(trial.counted.counts) | {name: getattr(trial.counted.counts, name) + 1}
        return {"counted": trial.counted.model_copy(update={"counts": type(trial.counted.counts)(**counts)})}

    report = build(trials(BASE, one_more))
    found = gate(report, "engine totals")
    own = [fact for fact in BASE.requests if speculative(fact) and fact.trial == 2]
    ours = len(own) if name == "requests" else sum(getattr(fact, name) for fact in own)
    assert (found.refused, found.failing) == (True, 1)
    said = say(found.sentence).replace("\u202f", "").replace(",", "").replace("\u00a0", " ")
    assert f"in trial 2 the requests add up to {sign} = {ours} and the engine's own counters say {ours + 1}" in said
    assert isinstance(report.find("acceptance_rate"), Refusal)


def test_what_is_assumed_or_broken_off_is_not_held_against_the_counters() -> None:
    """Catches a run refused because k tokens a round were assumed, or because the counters hold an answer that broke off."""

    def nominal(trial: TrialFact) -> dict[str, Any]:
        assert trial.counted is not None
        counts = vars(trial.counted.counts) | {"drafted": (trial.counted.counts.drafted or 0) + 5, "kept_at": None}
        change = {"counts": type(trial.counted.counts)(**counts), "drafted_source": "nominal"}
        return {"counted": trial.counted.model_copy(update=change)} if speculative(trial) else {}

    assert not gate(build(trials(BASE, nominal)), "engine totals").refused
    assert any("nominal" in say(note) for note in build(trials(BASE, nominal)).notes)

    def broke_off(fact: RequestFact) -> RequestFact:
        wrong = {"finish": "error", "verified": 0} if speculative(fact) and (fact.prompt, fact.trial) == ("ru-03", 1) else {}
        return fact.model_copy(update=wrong)

    found = gate(build(requests(BASE, broke_off)), "engine totals")
    assert (found.refused, found.n) == (False, 7)


def test_where_no_counters_were_read_that_is_said() -> None:
    """Catches silence that passes for a check."""
    report = build(trials(BASE, lambda trial: {"counted": None, "foreign": None}))
    assert report.verdict.outcome == "pays"
    assert (gate(report, "engine totals").n, gate(report, "forced acceptance").n) == (0, 0)
    assert any("those of others would not show" in say(note) for note in report.notes)


def test_a_run_without_counts_by_request_shows_those_of_a_trial() -> None:
    """Catches a report, its export or what is kept for comparisons that cannot do without counts of single requests."""
    silent = requests(BASE, lambda fact: untold(fact, "rounds", "undrafted", "accepted", "discarded_bonus"))
    found = measured(silent)
    per_round = found.report.find("tokens_per_round")
    assert isinstance(per_round, Figure)
    assert (per_round.pooled.reason, per_round.pooled.n) == (OF_TRIAL, 12)
    accepted = found.report.find("acceptance_rate")
    assert isinstance(accepted, Figure)
    assert accepted.pooled.low is not None
    assert {row.rounds for row in found.report.prompts} == {None}
    assert all(row.drafted is not None for row in found.report.prompts)
    assert found.report.lengths == ()
    assert list(report_rows(found.report))
    kept = {each.figure for each in found.kept.sums}
    assert "acceptance_rate" in kept
    assert "tokens_per_round" not in kept


def test_without_a_passport_no_counter_is_shown() -> None:
    """Catches acceptance without language or tokenizer that can be divided out of the engine's own counters."""
    report = build(BASE.model_copy(update={"preflight": None}))
    assert report.trials
    assert {trial.counted for trial in report.trials} == {None}
    assert all(trial.counted is not None for trial in build(BASE).trials)


def test_an_engine_that_changes_the_output_is_refused() -> None:
    """Catches speculation that says something else than plain where plain always says the same: 2 of 12 prompts, in every pass."""
    report = build(differing(BASE, "speculative", PROMPTS[:2], {0, 1, 2, 3}))
    found = gate(report, "lossy")
    assert (found.refused, found.failing, found.n) == (True, 8, 48)
    said = "Refused: the engine changes the output. 8 of 48 answers part from plain, and plain parts from itself in 0 of 36."
    assert say(found.sentence) == said
    assert say(report.answer).startswith(said)
    assert report.verdict.causes[0] == "lossy"
    assert isinstance(report.find("acceptance_rate"), Refusal)
    assert output(report.losslessness, "en").value == "changed"


def test_a_label_lets_a_changed_output_pass_and_says_it() -> None:
    """Catches a labelled run that is called lossless."""
    base = record(spec={"labels": {"lossy": "engine"}})
    report = build(differing(base, "speculative", PROMPTS[:2], {0, 1, 2, 3}))
    assert not gate(report, "lossy").refused
    assert any(say(note).startswith("The engine changes the output: 8 of 48") for note in report.notes)


def test_a_tenth_of_the_answers_may_be_ties() -> None:
    """Catches an engine blamed for near ties that nobody can judge, and one whose answers part in silence."""
    report = build(differing(BASE, "speculative", PROMPTS[:1], {0, 1, 2, 3}))
    assert not gate(report, "lossy").refused
    assert report.verdict.outcome == "pays"
    assert any("4 of 48 answers part from plain, which repeats itself" in say(note) for note in report.notes)
    assert output(report.losslessness, "en").value == "mostly unchanged"


def test_an_engine_that_does_not_repeat_itself_is_not_blamed_on_speculation() -> None:
    """Catches the fault of an engine that is not deterministic laid on its drafts: plain parts from its own first pass as often."""
    both = differing(differing(BASE, "speculative", PROMPTS[:3], {1, 3}), "plain", PROMPTS[:3], {2})
    report = build(both)
    assert not gate(report, "lossy").refused
    assert any("the engine does not repeat itself, and speculation is not blamed" in say(note) for note in report.notes)
    assert not any("near ties" in say(note) for note in report.notes)
    assert output(report.losslessness, "en").value == "not to be told"


def test_one_flicker_of_plain_excuses_no_output_that_is_another_throughout() -> None:
    """Catches a changed output that hides behind a single answer of plain."""
    flicker = differing(differing(BASE, "speculative", PROMPTS, {0, 1, 2, 3}), "plain", PROMPTS[:1], {2})
    assert gate(build(flicker), "lossy").refused


def test_equal_output_keeps() -> None:
    assert say(gate(build(BASE), "lossy").sentence) == "The rule keeps the output."
    assert output(build(BASE).losslessness, "en").value == "unchanged"


def test_repeats_that_tell_different_counts_are_not_called_different() -> None:
    """Catches an absent count taken for another one, and an absent one called equal."""
    said = "Repeats are identical"
    later = requests(BASE, lambda fact: untold(fact, "undrafted") if speculative(fact) and fact.trial == 1 else fact)
    assert not any(said in say(note) for note in build(later).notes)
    throughout = requests(BASE, lambda fact: untold(fact, "undrafted", "lists"))
    assert any("Repeats are identical: yes" in say(note) for note in build(throughout).notes)
    other = requests(later, lambda fact: fact.model_copy(update={"output_digest": "0" * 64}) if fact.trial == 2 and speculative(fact) else fact)
    assert any("Repeats are identical: no" in say(note) for note in build(other).notes)


def test_trials_of_our_own_loop_have_no_gates_of_engines() -> None:
    """Catches sentences about servers on runs that have none."""
    own = record(spec={"engine": "transformers", "drafter": {"name": "ngram", "params": {"max_ngram": 3}}})
    assert {"engine totals", "foreign traffic", "forced acceptance"}.isdisjoint(each.name for each in build(own).gates)


def test_told_trials_are_those_of_their_requests() -> None:
    """The negative control of this file: its own counters count what its requests say."""
    for trial in told_trials(BASE.requests):
        own = [fact for fact in BASE.requests if (fact.arm, fact.trial) == (trial.arm, trial.trial)]
        assert trial.counted is not None
        assert (trial.counted.counts.requests, trial.counted.counts.verified) == (12, sum(fact.verified or 0 for fact in own))


def test_a_speed_up_of_one_start_of_each_server_is_said_to_be() -> None:
    """Catches an interval that is read as if it held what differs from one start of a server to the next."""
    said = "one start of its server"
    assert any(said in say(note) for note in build(BASE).notes)
    own = record(spec={"engine": "transformers", "drafter": {"name": "ngram", "params": {"max_ngram": 3}}})
    assert not any(said in say(note) for note in build(own).notes)
    anew = BASE.model_copy(update={"preflight": BASE.preflight and BASE.preflight.model_copy(update={"drafter_memory": "process"})})
    assert not any(said in say(note) for note in build(anew).notes)
