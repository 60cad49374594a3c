"""A drafter that proposed nothing is said to have done so beside the answer."""

from app.reports.build import build
from app.reports.format import say
from app.reports.record import RunRecord
from tests import factories

SAID = "No draft was made"


def silent(base: RunRecord) -> RunRecord:
    """The record with a speculative arm that took plain's own steps."""
    plain = {(fact.prompt, fact.trial): fact for fact in base.requests if fact.arm == "plain"}
    own = [
        plain[fact.prompt, fact.trial].model_copy(update={"arm": "speculative", "order": fact.order}) if fact.arm == "speculative" else fact
        for fact in base.requests
    ]
    return base.model_copy(update={"requests": tuple(own)})


def test_a_run_without_drafts_says_so_beside_its_answer() -> None:
    """Catches a speed-up that reads as the drafter's, though it never drafted."""
    assert say(build(silent(factories.record(prompts=8, passes=2))).notes[0]).startswith(SAID)


def test_a_profile_without_drafts_is_not_the_run() -> None:
    """Catches a run that drafted, whose verdict says that no draft was ever made because one of its profiles gave none."""
    base = factories.record(prompts=8, passes=2)
    quiet = {fact.profile for fact in base.requests if fact.prompt == base.requests[0].prompt}
    assert len({fact.profile for fact in base.requests} - quiet) > 0
    without = {(fact.prompt, fact.trial): fact for fact in silent(base).requests if fact.arm == "speculative" and fact.profile in quiet}
    own = [without.get((fact.prompt, fact.trial), fact) if fact.arm == "speculative" else fact for fact in base.requests]
    report = build(base.model_copy(update={"requests": tuple(own)}))
    assert not any(say(note).startswith(SAID) for note in report.notes)
    assert "no draft" not in say(report.verdict.sentence)


def test_a_run_with_drafts_or_refused_says_nothing_of_it() -> None:
    """Catches the note beside drafts that were made, or of a run of which nothing is said."""
    looping = silent(factories.record(prompts=8, passes=2, degenerate=True, repeated_share=0.83))
    for report in (build(factories.record(prompts=8, passes=2)), build(looping)):
        assert not any(say(note).startswith(SAID) for note in report.notes)
