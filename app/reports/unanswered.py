"""Requests that ended without a whole answer (definitions § 5): those that are left are a selection of prompts, made by whatever broke the others."""

from collections.abc import Sequence

import numpy as np

from app.domain.facts import RequestFact
from app.domain.sentence import Quantity, Sentence, plain
from app.metrics.columns import Requests
from app.metrics.terms import ARMS, DONE
from app.reports.gates import TOLERATED
from app.reports.report import Gate


def requests_failed(requests: Sequence[RequestFact], *, ended: bool) -> Gate:
    """Headline requests, plain and speculative together where both were measured, that an arm has not answered in whole.

    A trial that an arm lacks altogether chooses no prompts. `ended`: the run is over, well or not, and its runner tells of whole trials, so that
    each should be there in whole; before that it may merely be on its way.
    """
    every = Requests.of(requests)
    own = every.where(every.told("purpose", "headline") & every.told("arm", *ARMS))
    places, first, place = np.unique(own.keys("prompt", "trial", "seed"), return_index=True, return_inverse=True)
    failed = np.zeros(len(places), dtype=bool)
    failed[place[~own.told("finish", *DONE)]] = True
    if ended:
        trial = own.whole("trial")
        for arm in ARMS:
            there = own.told("arm", arm)
            missing = np.isin(trial[first], trial[there])
            missing[place[there]] = False
            failed |= missing
    failing, n = int(failed.sum()), len(places)
    refused = failing > TOLERATED * n
    return Gate(name="requests failed", refused=refused, failing=failing, n=n, limit=TOLERATED, sentence=_said(failing, n, refused=refused))


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
