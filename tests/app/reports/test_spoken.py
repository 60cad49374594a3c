"""Sentences in JSON."""

from typing import Any

from app.reports.build import build
from app.reports.format import say
from app.reports.report import Report
from app.reports.spoken import spoken
from tests.factories import record

REPORT = build(record(language="en", prompts=8))


def templates(found: Any) -> list[dict[str, Any]]:
    if isinstance(found, list):
        return [each for item in found for each in templates(item)]
    if not isinstance(found, dict):
        return []
    own = [found] if {"text", "values"} <= found.keys() else []
    return own + [each for item in found.values() for each in templates(item)]


def test_every_sentence_is_said_in_full() -> None:
    """Catches `%(speedup)s` in what a program prints."""
    told = spoken(REPORT.model_dump(mode="json"))
    assert told["answer"]["said"] == say(REPORT.answer)
    found = templates(told)
    assert len(found) > 20
    assert all("%(" not in each["said"] for each in found)


def test_a_report_that_was_said_can_be_read() -> None:
    """Catches a client of ours that refuses what the service answers; what is kept does not say it twice."""
    assert Report.model_validate(spoken(REPORT.model_dump(mode="json"))) == REPORT
    assert "said" not in REPORT.model_dump_json()


def test_what_somebody_else_wrote_is_left_alone() -> None:
    """Catches a parameter of a drafter that comes back with a sentence in it."""
    asked = {"spec": {"drafter": {"name": "x", "params": {"text": "%(a)s", "values": {}}}}}
    assert spoken(asked) == asked
