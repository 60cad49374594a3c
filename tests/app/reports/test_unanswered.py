"""Numbers over a selection: what was not answered, not judged, or weighed against a slow plain arm may not look like a measurement of all."""

import pytest

from app.domain.estimate import Absent, Figure, Refusal
from app.domain.facts import RequestFact
from app.domain.status import RunState
from app.reports.build import build
from app.reports.format import say
from app.reports.record import RunRecord
from app.reports.report import Report
from tests.factories import controls, record

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


def test_a_run_that_is_being_measured_is_not_refused_for_the_pass_that_it_is_in() -> None:
    """Catches a run called a selection of prompts while the rest of them is on its way."""
    going = with_requests(FAST, *FAST.requests[:-7]).model_copy(update={"state": RunState.RUNNING})
    assert gate(build(going), "requests failed")[0] is False


def controlled(base: RunRecord, factor: float) -> RunRecord:
    """With a control arm that takes about `factor` of the plain arm's time in the place of its own."""
    own = [fact for fact in base.requests if fact.arm != "control"]
    return with_requests(base, *own, *controls(own, factor))


def test_a_slow_plain_arm_is_no_baseline() -> None:
    """Catches `pays` against a plain arm that takes three times as long as the library's own plain decoding: any drafter would look fast."""
    report = build(controlled(FAST, 1 / 3))
    assert report.verdict.outcome == "cannot tell"
    assert report.verdict.causes[0] == "slow plain"
    assert say(report.answer).startswith("Cannot tell: the plain arm is no fair baseline here.")


@pytest.mark.parametrize(("factor", "said"), [(0.93, "slower here"), (1.0, ""), (1.05, ""), (1.5, "faster here")])
def test_a_plain_arm_that_is_nearly_as_fast_as_the_librarys_decides(factor: float, said: str) -> None:
    """Catches a speed-up that is flattered by a plain arm surely slower than the library's, within what is allowed, without a word; a faster one
    flatters nobody."""
    report = build(controlled(FAST, factor))
    assert report.verdict.outcome == "pays"
    found = [say(note) for note in report.notes if say(note).startswith("Plain decoding is")]
    assert [said in text for text in found] == [True] * bool(said)
    assert all("×" in text and "[" in text for text in found)


@pytest.mark.parametrize(("there", "outcome"), [(0, "cannot tell"), (10, "cannot tell"), (11, "pays")])
def test_a_control_that_is_not_there_is_no_fair_baseline(there: int, outcome: str) -> None:
    """Catches `pays` where the library's own plain decoding was left out, or only on the prompts where plain is slow: then nobody would know."""
    own = [fact for fact in FAST.requests if fact.arm != "control" or int(fact.prompt[-2:]) <= there]
    report = build(with_requests(FAST, *own))
    assert report.verdict.outcome == outcome
    if outcome == "cannot tell":
        assert report.verdict.causes == ("no control",)
        assert f"was timed on {there} of 12\N{NO-BREAK SPACE}prompts" in say(report.answer)
    else:
        assert any("timed on only 11 of 12\N{NO-BREAK SPACE}prompts" in say(note) for note in report.notes)


def test_a_slow_plain_arm_whose_times_have_no_spread_is_slow() -> None:
    """Catches a ratio without an interval, since all of it agrees to the last digit, that is taken for no ratio."""
    own = [fact for fact in FAST.requests if fact.arm != "control"]
    thrice = []
    for fact in own:
        if fact.arm == "plain":
            ends = tuple(fact.sent_at + (end - fact.sent_at) / 3 for end in fact.step_end)
            thrice.append(fact.model_copy(update={"arm": "control", "step_end": ends, "first_at": ends[0], "last_at": ends[-1]}))
    report = build(with_requests(FAST, *own, *thrice))
    assert report.verdict.causes[0] == "slow plain"


def undetermined(base: RunRecord, names: set[str]) -> RunRecord:
    return with_requests(base, *(fact.model_copy(update={"answer_language": "und"}) if fact.prompt in names else fact for fact in base.requests))


def test_a_language_known_of_a_handful_is_not_known() -> None:
    """Catches an acceptance that reads as Russian where five answers of twelve were long enough to tell: those are the long ones."""
    report = build(undetermined(FAST, {f"ru-{number:02}" for number in range(6, 13)}))
    assert gate(report, "unknown language") == (True, 7, 12)
    assert "the language of only 5 of 12 answers is known" in say(report.answer)
    cell = report.find("acceptance_rate")
    assert isinstance(cell, Refusal)
    half = build(undetermined(FAST, {f"ru-{number:02}" for number in range(7, 13)}))
    assert gate(half, "other language") == (False, 0, 6)
    assert half.verdict.outcome == "pays"


def test_loops_looked_for_in_a_handful_are_not_looked_for() -> None:
    """Catches a gate that passes on the five answers of twelve that somebody chose to judge."""
    for judged, refused in ((5, True), (6, False)):
        names = {f"ru-{number:02}" for number in range(judged + 1, 13)}
        facts = (fact.model_copy(update={"degenerate": None}) if fact.prompt in names else fact for fact in FAST.requests)
        report = build(with_requests(FAST, *facts))
        assert gate(report, "degenerate")[0] is refused
        assert report.verdict.outcome == ("cannot tell" if refused else "pays")
        assert ("only 5 of 12 answers were judged" in say(report.answer)) is refused


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
