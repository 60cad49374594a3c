"""The plain arm: no draft at all, through the same loop."""

from collections.abc import Sequence

from runners.drafters.base import Drafter, More
from runners.engine.draft import Batch, Draft


class NoDrafter(Drafter):
    name = "none"
    summary = "plain decoding: nothing is drafted"

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        del limits, more
        return Draft.empty(len(batch), self.target.device)
