"""Drafts with a hybrid target without its attention: its recurrent mixers and MLPs alone."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field
from torch import Tensor

from runners.drafters.base import Drafter, More, Params
from runners.engine.chain import grow
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.target import Target


class ComponentParams(Params):
    kept: Annotated[
        int, Field(ge=0, le=512, title="Attentions kept", description="layers, from the first on, whose attention drafts too; 0 leaves all out")
    ] = 0


class Component(Drafter):
    """Component-aware self-speculation for hybrids (arXiv 2605.01106): where attention runs beside a recurrent mixer the draft is what the mixer
    says alone, where layers take turns those with attention keep their MLP only. Left out means not run: a draft reads no keys and writes none.

    The text of its paper was not to be had beyond the abstract; the algorithm is ours. So are its parameter, and that drafts run on a copy of the
    recurrent states, which verification never sees.
    """

    name = "component"
    summary = "drafts with a hybrid target without its attention; no weights of its own"
    Params = ComponentParams
    always_drafts = True
    shares_cache = True
    knows_confidence = True
    hybrid = True
    params: ComponentParams

    def __init__(self, params: ComponentParams, target: Target, chance: Chance | None = None) -> None:
        super().__init__(params, target, chance)
        self.left_out = frozenset(target.attentions[params.kept :])

    def forced(self) -> str | None:
        if not self.left_out:
            return f"kept {self.params.kept} leaves none of {len(self.target.attentions)} attentions out, so every draft is the target's own token"
        return None

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        made = grow(batch, limits, self._step, self.chance, self.target.device, more)
        return Draft.chain(made.tokens, made.lengths, probabilities=made.laws)

    def _step(self, batch: Batch, tokens: Tensor, depth: int) -> tuple[Tensor, None]:
        return self.target.unattended(batch, tokens, depth, self.left_out), None
