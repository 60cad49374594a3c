"""Runs on an engine without a plain arm: acceptance, no speed-up, and a verdict that says why."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.estimate import Absent, Figure
from app.domain.status import RunState
from app.reports.build import build
from app.reports.compare import compare
from app.reports.format import say
from app.reports.record import RunRecord
from app.runs.schemas import RunSummary
from app.web.pages.run import view
from tests import factories, factories_load, factories_open


def alone(found: RunRecord, **over: Any) -> RunRecord:
    """The same run as an attached engine would have measured it."""
    told = {"engine_version": "sglang 0.5.23", "plain_arm": False, "drafter_memory": "request"}
    return found.model_copy(
        update={
            "spec": found.spec.model_copy(update={"engine": "sg"}),
            "preflight": factories.preflight_fact(**told | over),
            "requests": tuple(each for each in found.requests if each.arm == "speculative"),
            "trials": tuple(each for each in found.trials if each.arm == "speculative"),
        }
    )


def runs() -> list[RunRecord]:
    return [alone(found) for found in (factories.record(), factories_load.load_record(), factories_open.open_record())]


@pytest.mark.parametrize("found", runs(), ids=["single", "closed", "open"])
def test_there_is_acceptance_and_no_speedup(found: RunRecord) -> None:
    """Catches a run that fails, or a speed-up against nothing, where an engine has no plain arm."""
    report = build(found)
    assert report.verdict.outcome == "cannot tell"
    assert "no plain arm" in report.verdict.causes
    assert say(report.answer) == "Acceptance only. Plain decoding was not measured, so nothing is said about speed."
    assert isinstance(report.find("acceptance_rate"), Figure)
    assert isinstance(report.find(report.headline), Absent)
    assert report.losslessness == ()
    assert any("without a plain arm" in say(note) for note in report.notes)
    assert not any(gate.refused for gate in report.gates)


def test_two_of_them_are_contrasted_in_acceptance_alone() -> None:
    """Catches a comparison that breaks without pairs of arms."""
    found = compare([alone(factories.record(run=1)), alone(factories.record(run=2, language="en"))])
    assert found.comparable
    assert {each.id for each in found.contrasts} & {"acceptance_rate"}
    assert not {each.id for each in found.contrasts} & {"speedup_end_to_end", "speedup_decode"}
    assert say(found.answer).startswith("Only acceptance is contrasted")


def test_its_pages_say_why() -> None:
    """Catches a page that cannot be drawn, and a plot that shows one arm as if it were both."""
    for found in runs():
        report = build(found)
        summary = RunSummary(id=1, state=RunState.SUCCEEDED, spec=report.spec, created_at=datetime(2026, 1, 1, tzinfo=UTC), attempt=1)
        first = view(summary, report, "ru", "at")["tiles"][0].shown
        assert first.state == "absent"
        assert first.why
