"""What drafters over a slice of the cache have in common; which entries stay is what tells them apart."""

from abc import abstractmethod
from collections.abc import Sequence
from math import ceil
from typing import Annotated

from pydantic import Field
from torch import Tensor

from runners.drafters.base import Drafter, More, Params, UnfitDrafter
from runners.engine.chain import grow
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.target import Target


class SliceParams(Params):
    ratio: Annotated[float, Field(ge=0.001, le=1, title="Share of the cache", description="of the entries of a text, those that are read")] = 0.05
    least: Annotated[
        int, Field(ge=1, le=65536, title="Fewest entries", description="read at least; a text that has no more is decoded without drafts")
    ] = 256

    def budget(self, held: int) -> int:
        """Entries to read of a text that has `held`."""
        return min(held, max(self.least, ceil(self.ratio * held)))


class SliceDrafter(Drafter):
    """Drafts with all layers of the target over a few entries of its cache, gathered once a round, so that each draft reads that much less. What is
    drafted is kept beside them, not in the cache, and the verification is the target's own.

    A slice that is the whole text drafts nothing: such a draft costs a step and is kept by construction, so that it would only raise acceptance.
    """

    Params = SliceParams
    shares_cache = True
    knows_confidence = True
    slices = True
    params: SliceParams

    def __init__(self, params: SliceParams, target: Target, chance: Chance | None = None) -> None:
        super().__init__(params, target, chance)
        if params.budget(target.context) >= target.context:
            raise UnfitDrafter(
                f"a ratio of {params.ratio:g} and least {params.least} leave nothing out of texts of {target.context} tokens; "
                "choose less, or longer prompts"
            )

    @abstractmethod
    def entries(self, batch: Batch) -> Tensor:
        """Positions `[layers, R, m]` of the entries to draft over, −1 behind those of a row that has fewer, in the same columns of every layer. Each
        row has more entries than its budget."""

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        limits = [limit if self._leaves_out(len(ids) - 1) else 0 for ids, limit in zip(batch.ids, limits, strict=True)]
        rows = [r for r, limit in enumerate(limits) if limit > 0]
        if not rows:
            return Draft.empty(len(batch), self.target.device)
        whole = batch.rows(rows)
        part, slots = self.target.narrow(whole, self.entries(whole), max(limits)), whole.slots

        def step(active: Batch, tokens: Tensor, depth: int) -> tuple[Tensor, None]:
            nonlocal part, slots
            if active.slots != slots:
                part, slots = part.rows([slots.index(slot) for slot in active.slots]), active.slots
            return self.target.over(active, part, tokens, depth), None

        made = grow(batch, limits, step, self.chance, self.target.device, more)
        return Draft.chain(made.tokens, made.lengths, probabilities=made.laws)

    def _leaves_out(self, held: int) -> bool:
        return self.params.budget(held) < held
