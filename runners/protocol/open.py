"""Open load: requests arrive when they were planned to, both arms of a pair at the same times (definitions § 3)."""

from dataclasses import replace

from runners.engine.sequence import Request
from runners.loads.open import arrivals
from runners.protocol.closed import ClosedTrials


class OpenTrials(ClosedTrials):
    """Blocks and pairs as under a closed load; a trial is one arm over all prompts, each sent once.

    Prompts are not repeated to fill a trial, however high the rate: a second answer to a prompt is no further evidence of the prompts, and a drafter
    that remembers would draft from the first. What so few requests cannot show (a p95 of fewer than 20) is missing with that reason; more prompts
    make a longer trial. Every pair has arrivals of its own, so that its noise holds the luck of arrivals too.
    """

    def requests(self, number: int) -> list[Request]:
        load, found = self.ready.spec.load, super().requests(number)
        assert load.rate is not None
        assert load.burstiness is not None
        planned = arrivals(len(found), load.rate, load.burstiness, f"{self.ready.spec.sampling.seed}:{number}")
        return [replace(request, planned_at=at) for request, at in zip(found, planned, strict=True)]
