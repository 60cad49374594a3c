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


def test_a_run_with_drafts_or_refused_says_nothing_of_it() -> None:
    """Catches the note beside drafts that were made, or of a run of which nothing is said."""
    looping = silent(factories.record(prompts=8, passes=2, degenerate=True, repeated_share=0.83))
    for report in (build(factories.record(prompts=8, passes=2)), build(looping)):
        assert not any(say(note).startswith(SAID) for note in report.notes)
