"""Drafts with the target's first layers and its own head, then lets the verify pass go on from there."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field
from torch import Tensor

from runners.drafters.base import Drafter, More, Params, UnfitDrafter
from runners.engine.chain import grow
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
        made = grow(batch, limits, self._step, self.chance, self.target.device, more)
        resume = None if made.states is None or not self.target.resumes else Resume(self.params.exit_layer, made.states)
        return Draft.chain(made.tokens, made.lengths, probabilities=made.laws, resume=resume)

    def _step(self, batch: Batch, tokens: Tensor, depth: int) -> tuple[Tensor, Tensor | None]:
        return self.target.early(batch, tokens, depth, self.params.exit_layer)

    @property
    def exit_layer(self) -> int | None:
        return self.params.exit_layer if self.target.resumes else None

    def behind(self, batch: Batch, look: Look) -> tuple[Tensor, Tensor | None]:
        return self.target.early_tree(batch, look, self.params.exit_layer)
