"""Whether a drafter pays: decided here and nowhere else (definitions § 4)."""

from typing import Literal

from app.domain.estimate import Estimate
from app.domain.sentence import Sentence
from app.domain.value import Value

Outcome = Literal["pays", "does not pay", "cannot tell"]
Cause = Literal["interval", "few prompts", "not level", "contended", "refused", "no plain arm", "no interval", "lossy", "not finished"]


class Verdict(Value):
    """`causes` says why it cannot be told; `slower` is true when the whole interval lies below 1; `more` is the number of further prompts
    (or trial pairs) that would settle it at today's spread, None where no number would."""

    outcome: Outcome
    headline: str
    margin: float
    causes: tuple[Cause, ...] = ()
    slower: bool = False
    more: int | None = None
    family: int = 1
    noise_floor: Estimate | None = None
    sentence: Sentence
