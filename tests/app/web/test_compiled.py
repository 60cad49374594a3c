"""Compiled forwards in words."""

from app.reports.build import build
from app.web.compiled import compiled
from app.web.passport import full
from tests import factories


def test_what_was_compiled_and_what_was_not() -> None:
    """Catches a report in which eager steps pass for compiled ones, and one of losslessness or of the library's own arm that is counted with them."""
    record = factories.record(spec=factories.run_spec(compile=True))
    trials = [
        factories.trial_fact(arm="plain", forwards=100, eager_forwards=0),
        factories.trial_fact(arm="speculative", forwards=60, eager_forwards=3),
        factories.trial_fact(arm="control", forwards=100),
        factories.trial_fact(arm="plain", purpose="losslessness", forwards=500, eager_forwards=500),
    ]
    report = build(record).model_copy(update={"trials": tuple(trials), "compiled": factories.compilation()})
    words = " ".join((compiled(report, "en") or "").split())
    assert words == "1 × 1: 0–29, 1 × 5: 0–29 (rows × tokens: layers), in 41 s before the warm-up; 3 of 160 decode steps ran eager"
    assert "3 из 160" in (compiled(report, "ru") or "")
    assert ("forwards", "compiled", False) in [row for _, group in full(report, "en") for row in group]


def test_nothing_is_said_where_nothing_was_compiled() -> None:
    """Catches a count of 0 shapes."""
    report = build(factories.record())
    assert compiled(report, "en") is None
    assert ("forwards", "eager", False) in [row for _, group in full(report, "en") for row in group]
