"""Drafts with the target's first layers and its own head, then lets the verify pass go on from there."""

from collections.abc import Sequence
from typing import Annotated

import torch
from pydantic import Field

from runners.drafters.base import Drafter, More, Params, UnfitDrafter
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft, Resume
from runners.engine.target import Target


class LayerSkipParams(Params):
    exit_layer: Annotated[int, Field(ge=1, le=512, title="Exit layer", description="layers run in the draft pass; the rest is skipped")]


class LayerSkip(Drafter):
    """Early exit over the shared cache; exit states are handed on, so that no layer runs a position twice (LayerSkip, arXiv 2404.16710, § 4.3)."""

    name = "layerskip"
    summary = "drafts with the first layers of the target itself; no weights of its own"
    Params = LayerSkipParams
    always_drafts = True
    shares_cache = True
    params: LayerSkipParams

    def __init__(self, params: LayerSkipParams, target: Target, chance: Chance | None = None) -> None:
        super().__init__(params, target, chance)
        if params.exit_layer > target.layers:
            raise UnfitDrafter(f"exit_layer {params.exit_layer} is past the target's {target.layers} layers")

    def forced(self) -> str | None:
        if self.params.exit_layer == self.target.layers:
            return f"exit_layer {self.params.exit_layer} skips no layer of {self.target.layers}, so every draft is the target's own token"
        return None

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        del more
        rows, width = len(batch), max(limits, default=0)
        if width == 0:
            return Draft.empty(rows, self.target.device)
        tokens = torch.zeros((rows, width), dtype=torch.long, device=self.target.device)
        states: list[torch.Tensor] = []
        current = torch.tensor([ids[-1] for ids in batch.ids], dtype=torch.long, device=self.target.device)
        for depth in range(width):
            active = [r for r in range(rows) if limits[r] > depth]
            logits, hidden = self.target.early(batch.rows(active), current[active], depth, self.params.exit_layer)
            tokens[active, depth] = current[active] = logits.argmax(dim=-1)
            if hidden is not None:
                states.append(_spread(hidden, active, rows))
        resume = Resume(self.params.exit_layer, torch.stack(states, dim=1)) if states and self.target.resumes else None
        return Draft.chain(tokens, tuple(limits), resume=resume)


def _spread(hidden: torch.Tensor, active: list[int], rows: int) -> torch.Tensor:
    """`hidden` `[A, H]` of the active rows, placed into `[B, H]`."""
    if len(active) == rows:
        return hidden
    placed = hidden.new_zeros((rows, hidden.shape[1]))
    placed[active] = hidden
    return placed
