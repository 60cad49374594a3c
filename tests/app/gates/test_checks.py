"""Bounds and verdicts against one report."""

import pytest

from app.domain.estimate import Figure
from app.domain.sentence import Quantity
from app.domain.status import RunState
from app.errors import InvalidInput
from app.gates.checks import of_bounds, of_verdict
from app.gates.schemas import Bound, Check, GateIn
from app.reports.build import build
from app.reports.format import say
from app.reports.report import Report
from tests.factories import record

FAST = build(record(language="en", prompts=12, acceptance=0.9))
SLOW = build(record(language="en", prompts=12, acceptance=0.3))


def only(report: Report, figure: str, **over: object) -> Check:
    (found,) = of_bounds(report, (Bound.model_validate({"figure": figure} | over),))
    return found


def interval(report: Report, id: str) -> tuple[float, float]:
    cell = report.find(id)
    assert isinstance(cell, Figure)
    assert cell.pooled.low is not None
    assert cell.pooled.high is not None
    return cell.pooled.low, cell.pooled.high


@pytest.mark.parametrize("figure", ["headline", "acceptance_rate", "tokens_per_round"])
def test_a_bound_is_held_against_the_figure_of_the_report(figure: str) -> None:
    """Catches a gate that reads another number than the report shows, or another end of its interval."""
    low, high = interval(FAST, FAST.headline if figure == "headline" else figure)
    assert [only(FAST, figure, min=bound).answer for bound in (low, (low + high) / 2, high * 1.0001)] == ["holds", "cannot tell", "does not hold"]
    assert [only(FAST, figure, max=bound).answer for bound in (high, (low + high) / 2, low * 0.9999)] == ["holds", "cannot tell", "does not hold"]


def test_the_sentence_never_prints_an_end_on_the_bound() -> None:
    """Catches `1.05 [1.02, 1.05]` beside the bound 1.05 in a gate that does not hold: rounding would show another answer."""
    _, high = interval(FAST, FAST.headline)
    said = say(only(FAST, "headline", min=high + 1e-6).word.sentence)
    bound = said.rsplit(" ", 1)[-1].rstrip(".×")
    assert f", {bound}]" not in said
    found = Quantity(kind="ratio", value=1.0, low=0.9, high=1.04999999, beside=1.05)
    assert say(only(FAST, "headline", min=1.05).word.sentence.model_copy(update={"text": "%(x)s", "values": {"x": found}})).endswith("1.04999999]")


def test_a_refused_figure_is_not_measured() -> None:
    """Catches a gate that passes or fails on a number that the report refuses to show."""
    refused = build(record(language="en", prompts=12, degenerate=True, repeated_share=0.9))
    for figure in ("acceptance_rate", "headline"):
        found = only(refused, figure, min=0.1)
        assert (found.answer, found.word.estimate) == ("could not be measured", None)
        assert "repeat themselves" in say(found.word.sentence)
    assert of_verdict(refused, "pays").answer == "could not be measured"


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.CANCELLED])
def test_a_run_that_did_not_succeed_is_not_measured(state: RunState) -> None:
    """Catches a gate that holds on what a failed run had measured until then."""
    found = build(record(language="en", prompts=12, acceptance=0.9, state=state))
    assert only(found, "acceptance_rate", min=0.01).answer == "could not be measured"
    assert of_verdict(found, "pays").answer == "could not be measured"


def test_a_bench_that_is_not_level_decides_no_speed() -> None:
    """Catches a speed gate on a machine where plain differs from plain; counts do not depend on the machine and are judged."""
    base = record(language="en", prompts=12, acceptance=0.9)
    tilted = tuple(
        fact.model_copy(update={"sent_at": fact.sent_at - 0.2}) if fact.arm == "plain" and fact.order == 1 else fact for fact in base.requests
    )
    report = build(base.model_copy(update={"requests": tilted}))
    assert "not level" in report.verdict.causes
    found = only(report, "headline", min=0.5)
    assert (found.answer, found.word.sentence) == ("cannot tell", report.verdict.sentence)
    assert only(report, "acceptance_rate", min=0.1).answer == "holds"


def test_no_interval_no_answer() -> None:
    """Catches a gate that decides by the point of too few prompts."""
    few = build(record(language="en", prompts=4, acceptance=0.9))
    found = only(few, "acceptance_rate", min=0.01)
    assert found.answer == "cannot tell"
    assert say(found.word.sentence).startswith("No interval")


def test_the_verdict_is_the_report_s() -> None:
    """Catches a gate with a verdict of its own."""
    assert (FAST.verdict.outcome, SLOW.verdict.outcome) == ("pays", "does not pay")
    answers = {
        (name, wanted): of_verdict(report, wanted).answer for name, report in (("fast", FAST), ("slow", SLOW)) for wanted in ("pays", "does not pay")
    }
    assert answers == {
        ("fast", "pays"): "holds",
        ("fast", "does not pay"): "does not hold",
        ("slow", "pays"): "does not hold",
        ("slow", "does not pay"): "holds",
    }
    assert of_verdict(FAST, "pays").word.sentence == FAST.verdict.sentence


def test_parts_of_figures() -> None:
    """Catches a part that silently falls back to the whole, and one that is not there without a word about those that are."""
    assert only(FAST, "request_latency", part={"arm": "plain", "quantile": "p50"}, max=60).word.estimate is not None
    found = only(FAST, "acceptance_at", part={"position": "99"}, min=0.1)
    assert found.answer == "could not be measured"
    assert "position=1" in say(found.word.sentence)


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        ({"figure": "speed_up", "min": 1}, 'There is no figure "speed_up"'),
        ({"figure": "acceptance_rate", "min": 60}, "acceptance_rate is a share from 0 to 1; 60 is none."),
    ],
)
def test_a_bound_that_cannot_be_meant(bound: dict[str, object], said: str) -> None:
    """Catches a typing error that reads as a failed gate: 60 for 60 %."""
    with pytest.raises(InvalidInput, match=said.replace("(", r"\(")):
        only(FAST, **bound)


@pytest.mark.parametrize(
    "body",
    [
        {"run": 2},
        {"run": 2, "bounds": [{"figure": "headline"}]},
        {"run": 2, "bounds": [{"figure": "headline", "min": 1, "max": 2}]},
        {"run": 2, "bounds": [{"figure": "headline", "min": 1.0}, {"figure": "headline", "max": 0.5}]},
        {"run": 2, "baseline": 2},
        {"run": 2, "verdict": "pays", "tolerances": [{"figure": "headline", "within": 0.1}]},
        {"run": 2, "verdict": "pays", "repeat": 1},
        {"run": 2, "baseline": 3, "repeat": 3},
    ],
)
def test_a_gate_that_asks_nothing_sensible(body: dict[str, object]) -> None:
    """Catches a gate that holds because nothing was asked, and a run that is its own baseline or repeat."""
    with pytest.raises(ValueError, match="validation error"):
        GateIn.model_validate(body)
