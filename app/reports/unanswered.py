"""Requests that ended without a whole answer (definitions § 5): those that are left are a selection of prompts, made by whatever broke the others."""

from collections.abc import Sequence

from app.domain.facts import RequestFact
from app.domain.sentence import Quantity, Sentence, plain
from app.metrics.terms import ARMS, DONE
from app.reports.gates import TOLERATED
from app.reports.report import Gate


def requests_failed(requests: Sequence[RequestFact], *, ended: bool) -> Gate:
    """Headline requests, plain and speculative together where both were measured, that an arm has not answered in whole.

    A trial that an arm lacks altogether chooses no prompts. `ended`: the run is over, well or not, and its runner tells of whole trials, so that
    each should be there in whole; before that it may merely be on its way.
    """
    own = [fact for fact in requests if fact.purpose == "headline" and fact.arm in ARMS]
    places = {_place(fact) for fact in own}
    failed = {_place(fact) for fact in own if fact.finish not in DONE}
    if ended:
        there = {(fact.arm, *_place(fact)) for fact in own}
        begun = {(fact.arm, fact.trial) for fact in own}
        failed |= {place for arm, trial in begun for place in places if place[1] == trial and (arm, *place) not in there}
    failing, n = len(failed), len(places)
    refused = failing > TOLERATED * n
    return Gate(name="requests failed", refused=refused, failing=failing, n=n, limit=TOLERATED, sentence=_said(failing, n, refused=refused))


def _place(fact: RequestFact) -> tuple[str, int, int]:
    return fact.prompt, fact.trial, fact.seed


def _said(failing: int, n: int, *, refused: bool) -> Sentence:
    if failing == 0:
        return plain("All of %(n)s requests have a whole answer in every arm.", n=n)
    if refused:
        return plain(
            "Refused: %(failing)s of %(n)s requests have no whole answer in an arm. What is left is a selection of prompts, and neither its "
            "acceptance nor its speed is that of all.",
            failing=failing,
            n=n,
        )
    return plain(
        "%(failing)s of %(n)s requests have no whole answer in an arm; they are left out of what compares the arms, and up to %(limit)s may be.",
        failing=failing,
        n=n,
        limit=Quantity(kind="share", value=TOLERATED),
    )
