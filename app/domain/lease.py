"""What a runner holds while it measures a run."""

from typing import Any

from app.domain.spec import RunSpec
from app.domain.suite import Selection
from app.domain.value import Value

# Runs of one campaign that one process measures side by side; with more arms a pass would take too long for its pairs to be neighbours.
MOST_TOGETHER = 6


class Lease(Value):
    """A run that a runner holds for `lease_seconds` from the moment of the answer, and the token that is good for this attempt alone.

    `campaign` is the run's, if it belongs to one: runs of a campaign that share a target come one after the other, so that its weights stay loaded.
    `siblings` are leases of further runs of the same campaign that differ from this one in drafter and controller alone: they are measured
    together, against one plain arm. `suite` holds the prompts where the suite is one that was uploaded; siblings share it. `protocol` is what the
    service speaks (since version 2).
    """

    run: int
    attempt: int
    attempt_id: int
    token: str
    spec: RunSpec
    campaign: int | None = None
    lease_seconds: float
    beat_seconds: float
    suite: Selection | None = None
    siblings: tuple["Lease", ...] = ()
    protocol: int = 1

    def told(self, protocol: int) -> dict[str, Any]:
        """As JSON for a runner of this version: an older one refuses fields that it does not know."""
        newer: set[str] = {"protocol"} if protocol < 2 else set()
        return self.model_dump(mode="json", exclude={**dict.fromkeys(newer, True), "siblings": {"__all__": newer}})
