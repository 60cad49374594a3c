"""Reports of runs at a closed load above 1: throughput over trial pairs, and nothing that reads like speed of a single request."""

import pytest

from app.domain.estimate import Absent, Figure
from app.domain.status import RunState
from app.metrics.catalogue import of_load
from app.reports.build import build
from app.reports.compare import compare
from app.reports.format import say
from app.reports.record import RunRecord
from app.reports.report import Report
from tests.factories import record, run_spec
from tests.factories_load import load_record

NB = "\u00a0"
FAST, SLOW = load_record(acceptance=0.9), load_record(slow=3.0)


def voided(base: RunRecord, *blocks: int) -> RunRecord:
    return base.model_copy(update={"trials": tuple(fact.model_copy(update={"contended": fact.block in blocks}) for fact in base.trials)})


def test_pays_by_throughput() -> None:
    report = build(FAST)
    cell = report.find("speedup_throughput")
    assert report.headline == "speedup_throughput"
    assert isinstance(cell, Figure)
    assert (cell.unit, cell.pooled.n, cell.pooled.counted, cell.pooled.scope) == ("ratio", 6, "trial pairs", "these prompts")
    assert report.verdict.outcome == "pays"
    said = say(report.answer)
    assert said.startswith(f"Pays. In Russian, at 4{NB}requests at a time, ngram gives ")
    assert f"(6{NB}trial{NB}pairs). Acceptance " in said
    assert f"6{NB}пар{NB}повторов" in say(report.answer, "ru")


def test_slower() -> None:
    report = build(SLOW)
    assert (report.verdict.outcome, report.verdict.slower) == ("does not pay", True)


def test_the_floor_is_over_blocks() -> None:
    floor = build(FAST).verdict.noise_floor
    assert floor is not None
    assert (floor.n, floor.counted, floor.low is not None) == (3, "blocks", True)


def test_four_trial_pairs_are_enough_and_three_are_not() -> None:
    """One disturbed block of three is not more than a third: four pairs decide. A missing trial more, and they do not."""
    four = voided(FAST, 1)
    assert build(four).verdict.outcome == "pays"
    cut = build(four.model_copy(update={"requests": tuple(fact for fact in four.requests if (fact.arm, fact.trial) != ("speculative", 5))}))
    assert cut.verdict.causes[0] == "few trial pairs"
    assert cut.verdict.more == 1
    assert say(cut.answer) == f"Cannot tell yet. 3{NB}trial{NB}pairs are too few; 4 are the least."


def test_too_few_prompts_for_a_window_are_said() -> None:
    """Seven prompts over four slots: the reason stands in the figure's place, and no verdict is made without."""
    report = build(load_record(prompts=7))
    cell = report.find("speedup_throughput")
    assert isinstance(cell, Absent)
    assert say(cell.reason) == f"7{NB}requests in a trial are too few for a steady window; 12 are the least."
    assert report.verdict.causes[0] == "no interval"


def test_facts_of_one_at_a_time_are_no_load() -> None:
    """A runner that takes one request at a time whatever it is asked: its seconds must not pass for those of four slots."""
    report = build(record(prompts=12, passes=4, spec=run_spec(load={"concurrency": 4})))
    cell = report.find("speedup_throughput")
    assert isinstance(cell, Absent)
    assert "closed load of 4" in say(cell.reason)
    assert report.verdict.outcome == "cannot tell"


def test_single_requests_are_distributions() -> None:
    report = build(FAST)
    assert isinstance(report.find("speedup_end_to_end"), Absent)
    assert isinstance(report.find("speedup_decode"), Absent)
    for id in ("ttft", "request_latency", "time_per_output_token"):
        assert isinstance(report.find(id, arm="speculative", quantile="p95"), Figure)
    assert all(row.speedup is None for row in report.prompts)


def test_counts_come_from_one_trial() -> None:
    """Greedy repeats add nothing to acceptance: 16 prompts are 16, not 96."""
    cell = build(FAST).find("acceptance_rate")
    assert isinstance(cell, Figure)
    assert cell.pooled.n == 16


def test_outputs_that_part_under_load_are_noted() -> None:
    """Half precision: the headline stays throughput, the note says so, and that repeats differ too."""

    def change(fact):  # type: ignore[no-untyped-def]
        if (fact.arm, fact.trial, fact.prompt) != ("speculative", 2, "ru-03"):
            return fact
        return fact.model_copy(update={"output_ids": (*fact.output_ids[:5], 7, *fact.output_ids[6:]), "output_digest": "0" * 64})

    report = build(FAST.model_copy(update={"requests": tuple(change(fact) for fact in FAST.requests)}))
    said = [say(note) for note in report.notes]
    assert report.headline == "speedup_throughput"
    assert any("Repeats are identical: no" in note for note in said)
    assert any("1 of 96 answers part from plain" in note and "Throughput counts tokens" in note for note in said)


def test_one_at_a_time_lists_no_throughput_speedup() -> None:
    """Reports of load 1 stay as they were, in every state; nodes are figures of trees."""
    for base in (
        record(prompts=8),
        record(prompts=8).model_copy(update={"preflight": None}),
        RunRecord(run=3, state=RunState.QUEUED, spec=run_spec()),
    ):
        assert {cell.id for cell in build(base).cells} | {"acceptance_rate_nodes"} == {metric.id for metric in of_load("single")}


def test_trial_pairs_of_two_runs_are_not_contrasted() -> None:
    """A quotient of two speed-ups without pairs would have the wrong interval: there is none, and the reason stands in its place."""
    found = compare([FAST, load_record(run=2, language="en")])
    assert not [each for each in found.contrasts if each.id.startswith("speedup")]
    assert any("not contrasted" in say(sentence) and say(sentence, "ru") != say(sentence) for sentence in found.refused)
    assert any(each.id == "acceptance_rate" for each in found.contrasts)
    assert say(found.answer).startswith("Only acceptance is contrasted")


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_every_sentence_of_a_load_can_be_said(locale: str) -> None:
    bases = (FAST, SLOW, voided(FAST, 0), voided(FAST, 0, 1), load_record(prompts=7), load_record(blocks=1), load_record(noise=0.3))
    for report in map(build, bases):
        said = [report.question, report.answer, *report.notes]
        said += [cell.reason for cell in report.cells if not isinstance(cell, Figure)]
        estimates = [cell.pooled for cell in report.cells if isinstance(cell, Figure)] + [report.verdict.noise_floor]
        said += [each.reason for each in estimates if each is not None and each.reason]
        assert all(say(sentence, locale) for sentence in said)


def test_a_report_of_a_load_survives_its_json() -> None:
    report = build(FAST)
    assert Report.model_validate_json(report.model_dump_json()) == report
