"""Which blocks a drafter left out, counted as it drafts."""

from collections.abc import Sequence

import numpy as np

from app.domain.observations import LearnedFact
from runners.engine.blocks import BlockCosts, Skips


class LeftOut:
    """Counts over draft tokens, for a target of `layers` layers: its blocks are the attention and the MLP of each layer in turn."""

    def __init__(self, layers: int) -> None:
        self._blocks = 2 * layers
        self.clear()

    def clear(self) -> None:
        self._tokens, self._counts = 0, np.zeros(self._blocks, dtype=np.int64)

    def note(self, skips: Sequence[Skips]) -> Sequence[Skips]:
        """One draft token for each row of a batch, and what it was drafted without; handed back for whoever drafts it."""
        for each in skips:
            self._tokens += 1
            self._counts[list(each)] += 1
        return skips

    def fact(self, costs: BlockCosts | None = None) -> LearnedFact | None:
        """None where nothing was drafted. `costs` where the choice was made by costs that were measured."""
        if not self._tokens:
            return None
        measured = {} if costs is None else {"attention": costs.attention, "attention_per_entry": costs.per_entry, "mlp": costs.mlp}
        return LearnedFact(tokens=self._tokens, left_out=tuple((self._counts / self._tokens).tolist()), **measured)
