"""Drafts with the target's first layers and its own head, then lets the verify pass go on from there."""

from collections.abc import Sequence
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor

from runners.drafters.base import Drafter, More, Params, UnfitDrafter
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft, Resume
from runners.engine.target import Stretch, Target
from runners.engine.tree import Look


class LayerSkipParams(Params):
    exit_layer: Annotated[int, Field(ge=1, le=512, title="Exit layer", description="layers run in the draft pass; the rest is skipped")]


class LayerSkip(Drafter):
    """Early exit over the shared cache; exit states are handed on, so that no layer runs a position twice (LayerSkip, arXiv 2404.16710, § 4.3)."""

    name = "layerskip"
    summary = "drafts with the first layers of the target itself; no weights of its own"
    Params = LayerSkipParams
    always_drafts = True
    shares_cache = True
    knows_confidence = True
    branches = True
    params: LayerSkipParams

    def __init__(self, params: LayerSkipParams, target: Target, chance: Chance | None = None) -> None:
        super().__init__(params, target, chance)
        if params.exit_layer > target.layers:
            raise UnfitDrafter(f"exit_layer {params.exit_layer} is past the target's {target.layers} layers")

    def forced(self) -> str | None:
        if self.params.exit_layer == self.target.layers:
            return f"exit_layer {self.params.exit_layer} skips no layer of {self.target.layers}, so every draft is the target's own token"
        return None

    def stretches(self, longest: int) -> set[Stretch]:
        exit_layer, layers = self.params.exit_layer, self.target.layers
        last = Stretch(exit_layer, layers, longest + 1) if self.target.resumes else Stretch(0, layers, longest + 1)
        return {Stretch(0, exit_layer, 1), last}

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        rows, device = len(batch), self.target.device
        current = torch.tensor([ids[-1] for ids in batch.ids], dtype=torch.long, device=device)
        lengths, active = [0] * rows, [r for r in range(rows) if limits[r] > 0]
        drafted: list[Tensor] = []
        laws: list[Tensor] = []
        states: list[Tensor] = []
        while active:
            open_rows = batch.rows(active)
            logits, hidden = self.target.early(open_rows, current[active], len(drafted), self.params.exit_layer)
            chosen, law = self._draw(open_rows, logits)
            drafted.append(_spread(chosen, active, rows))
            if law is not None:
                laws.append(_spread(law, active, rows))
            if hidden is not None:
                states.append(_spread(hidden, active, rows))
            for r in active:
                lengths[r] = len(drafted)
            going = [True] * len(active) if more is None else _asked(more, open_rows, chosen, logits.float().softmax(dim=-1) if law is None else law)
            active = [r for r, goes in zip(active, going, strict=True) if goes and limits[r] > len(drafted)]
            current = drafted[-1]
        if not drafted:
            return Draft.empty(rows, device)
        resume = Resume(self.params.exit_layer, torch.stack(states, dim=1)) if states and self.target.resumes else None
        probabilities = torch.stack(laws, dim=1) if laws else None
        return Draft.chain(torch.stack(drafted, dim=1), tuple(lengths), probabilities=probabilities, resume=resume)

    @property
    def exit_layer(self) -> int | None:
        return self.params.exit_layer if self.target.resumes else None

    def behind(self, batch: Batch, look: Look) -> tuple[Tensor, Tensor | None]:
        return self.target.early_tree(batch, look, self.params.exit_layer)

    def _draw(self, batch: Batch, logits: Tensor) -> tuple[Tensor, Tensor | None]:
        """A token `[B]` per row, and the probabilities `[B, V]` that it was drawn from; None where it was not drawn."""
        if self.chance.law.greedy:
            return logits.argmax(dim=-1), None
        law = self.chance.law.probabilities(logits)
        return self.chance.dice.pick(batch.slots, law), law


def _asked(more: More, batch: Batch, chosen: Tensor, law: Tensor) -> list[bool]:
    """Per row, whether to draft on behind `chosen` `[B]`, by its probability in `law` `[B, V]`."""
    sure = law.gather(1, chosen[:, None])[:, 0].tolist()
    return [more(slot, probability) for slot, probability in zip(batch.slots, sure, strict=True)]


def _spread(values: Tensor, active: list[int], rows: int) -> Tensor:
    """`values` `[A, …]` of the active rows, placed into `[B, …]`."""
    if len(active) == rows:
        return values
    placed = values.new_zeros((rows, *values.shape[1:]))
    placed[active] = values
    return placed
