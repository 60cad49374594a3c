"""Drafts with the target itself without some of its layers, chosen anew as the text goes by what their absence does to the states."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from app.domain.observations import LearnedFact
from runners.drafters.base import Drafter, More, Params, UnfitDrafter
from runners.engine.blocks import Beside, Skips, States
from runners.engine.chain import grow
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.left_out import LeftOut
from runners.engine.target import Target


class ClaspParams(Params):
    skipped: Annotated[int, Field(ge=0, le=512, title="Layers left out", description="in the draft pass; which ones is chosen as the text goes")]
    every: Annotated[int, Field(ge=1, le=4096, title="Chosen every", description="rounds from one choice to the next")] = 8


@dataclass
class Slot:
    """`due`: the round under way is to leave states; `seen`: those `[L + 1, H]` of a full pass at `position`, from which the next choice is made."""

    skips: Skips
    rounds: int = 0
    due: bool = False
    seen: Tensor | None = None
    position: int = 0


class Clasp(Drafter):
    """In-context layer skip (CLaSp, Chen et al., arXiv 2505.24196). From the states of the last accepted token, which its verification leaves,
    dynamic programming chooses the layers: with i layers behind and j of them left out, of running layer i and of leaving it out that is taken whose
    state is nearer by cosine to the full pass's. All j of a layer are run at once.

    Its text was not to be had in full: the recursion is the paper's by descriptions of it, what stands around it is ours. That is the choice every
    `every` rounds, and layers spread evenly until the first one. When a draft ends early is the controller's matter.
    """

    name = "clasp"
    summary = "drafts with the target itself without the layers whose absence its states show least; no weights of its own"
    Params = ClaspParams
    always_drafts = True
    shares_cache = True
    knows_confidence = True
    opens = True
    learns = True
    params: ClaspParams

    def __init__(self, params: ClaspParams, target: Target, chance: Chance | None = None) -> None:
        super().__init__(params, target, chance)
        self.left_out = LeftOut(target.layers)
        if params.skipped >= target.layers:
            raise UnfitDrafter(f"skipped {params.skipped} leaves none of the target's {target.layers} layers")
        self._states = States(target.slots, halves=False)
        self.slots: dict[int, Slot] = {}

    def forced(self) -> str | None:
        return None if self.params.skipped else "skipped 0 leaves no layer out, so every draft is the target's own token"

    def reset(self) -> None:
        self.left_out.clear()

    def learned(self) -> LearnedFact | None:
        return self.left_out.fact()

    def begin(self, slot: int, ids: Sequence[int]) -> None:
        even = np.linspace(0, self.target.layers - 1, self.params.skipped + 2)[1:-1].round()
        self.slots[slot] = Slot(_blocks({int(layer) for layer in even}))

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        for slot, limit in zip(batch.slots, limits, strict=True):
            self._turn(slot, limit)
        self._states.begin(batch)
        made = grow(batch, limits, self._step, self.chance, self.target.device, more)
        due = any(self.slots[slot].due for slot in batch.slots)
        return Draft.chain(made.tokens, made.lengths, probabilities=made.laws, watch=self._states if due else None)

    def observe(self, batch: Batch, kept: Sequence[int]) -> None:
        for slot, ids, accepted in zip(batch.slots, batch.ids, kept, strict=True):
            own = self.slots[slot]
            if own.due:
                own.seen, own.position = self._states.of(slot, accepted, accepted + 1)[:, 0].clone(), len(ids) - 1 + accepted

    def _turn(self, slot: int, limit: int) -> None:
        """A round of the slot begins: a choice, where the one before left states, and whether this one is to leave them."""
        own = self.slots[slot]
        if limit > 0 and own.seen is not None:
            own.skips, _ = self.choose(slot, own.seen, own.position)
            own.seen = None
        own.due = limit > 0 and own.rounds % self.params.every == 0
        own.rounds += limit > 0

    def choose(self, slot: int, states: Tensor, position: int) -> tuple[Skips, Tensor]:
        """The blocks to leave out by the states `[L + 1, H]` of the token at `position`, and the state `[H]` behind the stack without them."""
        layers, most = self.target.layers, self.params.skipped
        ways, ran = self._ways(slot, position), states[:1]
        # Row j of `ran` is the state with j layers left out; row 0 is the full pass itself.
        paths: list[tuple[int, ...]] = [()]
        for layer in range(layers):
            stepped = torch.cat([states[layer + 1 : layer + 2], self._layer(layer, ran[1:], ways)])
            near = functional.cosine_similarity(stepped.float(), states[layer + 1].float(), dim=-1).tolist()
            left = functional.cosine_similarity(ran.float(), states[layer + 1].float(), dim=-1).tolist()
            chosen, taken = [stepped[0]], [paths[0]]
            for j in range(1, min(layer + 1, most) + 1):
                runs = j < len(ran) and near[j] >= left[j - 1]
                chosen.append(stepped[j] if runs else ran[j - 1])
                taken.append(paths[j] if runs else (*paths[j - 1], layer))
            ran, paths = torch.stack(chosen), taken
        return _blocks(set(paths[most])), ran[most]

    def _ways(self, slot: int, position: int) -> dict[int, Beside]:
        """By how many stand side by side: the same token in as many states, none of which sees another."""
        device = self.target.device
        places = {count: torch.full((count,), position, dtype=torch.long, device=device) for count in range(1, self.params.skipped + 1)}
        return {count: self.target.beside(slot, place, place, torch.eye(count, dtype=torch.bool, device=device)) for count, place in places.items()}

    def _layer(self, layer: int, ran: Tensor, ways: dict[int, Beside]) -> Tensor:
        for block in (2 * layer, 2 * layer + 1) if len(ran) else ():
            ran = self.target.block(block, ran, ways[len(ran)])
        return ran

    def _step(self, batch: Batch, tokens: Tensor, depth: int) -> tuple[Tensor, None]:
        return self.target.skipping(batch, tokens, depth, self.left_out.note([self.slots[slot].skips for slot in batch.slots])), None


def _blocks(layers: set[int]) -> Skips:
    return frozenset(block for layer in layers for block in (2 * layer, 2 * layer + 1))
