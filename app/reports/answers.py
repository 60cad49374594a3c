"""Which requests a report judges: one greedy pass stands for all, since repeats are identical."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from app.domain.bounds import Arm, Purpose
from app.domain.facts import RequestFact
from app.metrics.columns import Answer, Requests
from app.metrics.terms import DONE

FEWEST_LETTERS = 40


def of_arm(requests: Sequence[RequestFact], arm: Arm, purpose: Purpose = "headline") -> Requests:
    """Finished requests of an arm."""
    own = Requests.of(requests)
    return own.where(own.told("arm", arm) & own.told("purpose", purpose) & own.told("finish", *DONE))


def judged(requests: Sequence[RequestFact], arm: Arm, *, sampled: bool) -> Requests:
    """The requests of an arm that counts and texts are judged by: all sampled ones, of greedy ones the fullest trial."""
    own = of_arm(requests, arm)
    if sampled or not own:
        return own
    trials, sizes = np.unique(own.whole("trial"), return_counts=True)
    return own.where(own.whole("trial") == trials[sizes.argmax()])


def measured_language(answer: Answer) -> str | None:
    """The language of an answer; None when it is undetermined: too few letters, or none recognised."""
    return answer.answer_language if answer.answer_language not in (None, "und") and answer.answer_letters >= FEWEST_LETTERS else None


def shares_by_language(answers: Sequence[Answer]) -> dict[str, float]:
    """Measured tag → share of requests; `und` holds what is undetermined."""
    tags = Counter(measured_language(answer) or "und" for answer in answers)
    return {tag: n / len(answers) for tag, n in sorted(tags.items())}
