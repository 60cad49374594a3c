"""Numbers over a selection: what was not answered, not judged, or weighed against a slow plain arm may not look like a measurement of all."""

import pytest

from app.domain.estimate import Absent, Figure, Refusal
from app.domain.facts import RequestFact
from app.domain.status import RunState
from app.reports.build import build
from app.reports.format import say
from app.reports.record import RunRecord
from app.reports.report import Report
from tests.factories import record

FAST = record(prompts=12, passes=4, acceptance=0.9)


def with_requests(base: RunRecord, *facts: RequestFact) -> RunRecord:
    return base.model_copy(update={"requests": facts})


def ended(base: RunRecord, finish: str, names: set[str], arm: str) -> RunRecord:
    """The record in which requests of these prompts ended so in one arm."""
    return with_requests(
        base,
        *(fact.model_copy(update={"finish": finish}) if fact.arm == arm and fact.prompt in names else fact for fact in base.requests),
    )


def gate(report: Report, name: str) -> tuple[bool, int, int]:
    found = next(each for each in report.gates if each.name == name)
    return found.refused, found.failing, found.n


@pytest.mark.parametrize("finish", ["error", "cancelled"])
@pytest.mark.parametrize("arm", ["plain", "speculative"])
def test_requests_that_broke_off_in_one_arm_do_not_choose_the_prompts(finish: str, arm: str) -> None:
    """Catches `pays` over those prompts alone that one arm got through: the others may have been the slow ones."""
    report = build(ended(FAST, finish, {"ru-01", "ru-02"}, arm))
    assert gate(report, "requests failed") == (True, 8, 48)
    assert report.verdict.outcome == "cannot tell"
    assert "8 of 48 requests have no whole answer" in say(report.answer)
    for id in (report.headline, "acceptance_rate"):
        cell = report.find(id)
        assert isinstance(cell, Refusal)
        assert cell.field == "requests failed"


def test_requests_that_are_not_there_are_as_good_as_broken_off() -> None:
    """Catches half an arm left out without a word, which is what an error that nobody reports looks like."""
    kept = (fact for fact in FAST.requests if fact.arm == "plain" or fact.prompt > "ru-06")
    report = build(with_requests(FAST, *kept))
    assert gate(report, "requests failed") == (True, 24, 48)
    assert report.verdict.outcome == "cannot tell"


def test_a_tenth_may_break_off_and_is_counted() -> None:
    """One of twelve prompts leaves as a pair, in words; nothing is refused."""
    report = build(ended(FAST, "error", {"ru-01"}, "speculative"))
    assert gate(report, "requests failed") == (False, 4, 48)
    assert report.verdict.outcome == "pays"
    assert any("4 of 48 requests have no whole answer in an arm" in say(note) for note in report.notes)
    cell = report.find(report.headline)
    assert isinstance(cell, Figure)
    assert cell.pooled.n == 11


def test_a_run_that_was_cut_off_is_not_refused_for_the_pass_that_it_was_in() -> None:
    """What a cancelled run measured is shown without a verdict: its last pass is cut, and no prompt was chosen."""
    cut = with_requests(FAST, *FAST.requests[:-7]).model_copy(update={"state": RunState.CANCELLED})
    assert gate(build(cut), "requests failed")[0] is False


def controlled(base: RunRecord, factor: float) -> RunRecord:
    """With a control arm that takes about `factor` of the plain arm's time, a little more or less from prompt to prompt."""

    def control(fact: RequestFact) -> RequestFact:
        own = factor * (1 + 0.01 * (int(fact.prompt[-2:]) % 3 - 1))
        ends = tuple(fact.sent_at + (end - fact.sent_at) * own for end in fact.step_end)
        return fact.model_copy(update={"arm": "control", "step_end": ends, "first_at": ends[0], "last_at": ends[-1]})

    return with_requests(base, *base.requests, *(control(fact) for fact in base.requests if fact.arm == "plain"))


def test_a_slow_plain_arm_is_no_baseline() -> None:
    """Catches `pays` against a plain arm that takes three times as long as the library's own plain decoding: any drafter would look fast."""
    report = build(controlled(FAST, 1 / 3))
    assert report.verdict.outcome == "cannot tell"
    assert report.verdict.causes[0] == "slow plain"
    assert say(report.answer).startswith("Cannot tell: the plain arm is no fair baseline here.")


@pytest.mark.parametrize(("factor", "noted"), [(0.95, False), (1.05, False), (1.5, True)])
def test_a_plain_arm_that_is_as_fast_as_the_librarys_decides(factor: float, noted: bool) -> None:
    """Within a tenth nothing is said; a faster plain arm flatters nobody and is only noted."""
    report = build(controlled(FAST, factor))
    assert report.verdict.outcome == "pays"
    assert any("Plain decoding is faster here" in say(note) for note in report.notes) is noted


def undetermined(base: RunRecord, names: set[str]) -> RunRecord:
    return with_requests(base, *(fact.model_copy(update={"answer_language": "und"}) if fact.prompt in names else fact for fact in base.requests))


def test_a_language_known_of_a_handful_is_said_so() -> None:
    """Catches an acceptance that reads as Russian where two answers of twelve were long enough to tell."""
    most = {f"ru-{number:02}" for number in range(3, 13)}
    report = build(undetermined(FAST, most))
    assert gate(report, "other language") == (False, 0, 2)
    said = [say(note) for note in report.notes]
    assert "The language of only 2 of 12 answers could be determined; that of the others is not known." in said
    half = build(undetermined(FAST, {f"ru-{number:02}" for number in range(7, 13)}))
    assert not any("could be determined" in say(note) for note in half.notes)


def test_answers_that_nobody_judged_for_loops_are_refused() -> None:
    """Catches a gate that passes because it was never applied."""
    report = build(with_requests(FAST, *(fact.model_copy(update={"degenerate": None}) for fact in FAST.requests)))
    assert gate(report, "degenerate") == (True, 12, 12)
    assert report.verdict.outcome == "cannot tell"
    assert "no answer (of 12) was judged" in say(report.answer)


def test_nothing_measured_refuses_nothing() -> None:
    """A gate over no request at all has nothing to refuse: its reason is that of the run."""
    report = build(FAST.model_copy(update={"requests": (), "trials": ()}))
    assert all(isinstance(cell, Absent) for cell in report.cells)
    assert not any(each.refused for each in report.gates)
