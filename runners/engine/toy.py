"""The toy target: a deterministic "model" over 100 ids with 4 core and 2 refining layers, small enough to check by hand."""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from runners.engine.draft import Batch, Draft, Watch
from runners.engine.heed import Heeded
from runners.engine.slices import Slice
from runners.engine.target import Target
from runners.engine.tree import Look

VOCABULARY = 100
CORE = ((7, 13), (11, 29), (13, 41), (17, 7))
LAYERS = 6


def layer(number: int, x: int, position: int) -> int:
    """Layer `number` of the toy applied to `x`, with `position` ids so far."""
    if number < len(CORE):
        factor, shift = CORE[number]
        return (x * factor + shift) % VOCABULARY
    return (x + ((x * (number + 3) + position) % 17 == 0)) % VOCABULARY


def next_id(x: int, position: int, layers: int = LAYERS) -> int:
    for number in range(layers):
        x = layer(number, x, position)
    return x


class ToyTarget(Target):
    """Emits nothing from its prefill: the first round verifies directly behind the prompt. Logits are one-hot."""

    prefill_emits: ClassVar[bool] = False

    def __init__(self, *, slots: int = 1, context: int = 4096, eos: frozenset[int] = frozenset()) -> None:
        super().__init__(slots)
        self.layers, self.vocabulary, self.context, self.eos = LAYERS, VOCABULARY, context, eos
        self.device = torch.device("cpu")

    def _prefill(self, slot: int, ids: Sequence[int]) -> None:
        # The last id is fed with the first draft, so only those before it are run here.
        self.passes[slot].prefill += LAYERS * (len(ids) - 1)

    def verify(self, batch: Batch, draft: Draft) -> Tensor:
        self.forwards += 1
        chosen = []
        for row, (slot, ids) in enumerate(zip(batch.slots, batch.ids, strict=True)):
            behind = [ids[-1], *draft.tokens[row].tolist()]
            depths = range(len(behind)) if draft.tree is None else [0, *draft.tree.depths(row), *[0] * (draft.width - draft.lengths[row])]
            chosen.append([next_id(x, len(ids) + depth) for depth, x in zip(depths, behind, strict=True)])
            self.passes[slot].verify += LAYERS * (draft.lengths[row] + 1)
        return one_hot(torch.tensor(chosen))

    def settle(self, batch: Batch, draft: Draft, paths: list[list[int]]) -> None:
        """It remembers nothing but ids."""

    def early(self, batch: Batch, tokens: Tensor, depth: int, exit_layer: int, watch: Watch | None = None) -> tuple[Tensor, None]:
        chosen = []
        for slot, ids, x in zip(batch.slots, batch.ids, tokens.tolist(), strict=True):
            chosen.append(next_id(x, len(ids) + depth, exit_layer))
            self.passes[slot].draft += exit_layer
        return one_hot(torch.tensor(chosen)), None

    def early_tree(self, batch: Batch, look: Look, exit_layer: int) -> tuple[Tensor, None]:
        chosen = []
        for row, (slot, ids) in enumerate(zip(batch.slots, batch.ids, strict=True)):
            spots = zip(look.tokens[row].tolist(), look.depths[row].tolist(), strict=True)
            chosen.append([next_id(x, len(ids) + depth, exit_layer) for x, depth in spots])
            self.passes[slot].draft += exit_layer * look.counts[row]
        return one_hot(torch.tensor(chosen)), None

    def heeded(self, batch: Batch) -> Heeded:
        """It looks at the last id alone, which is no entry yet: of those that are there none weighs anything."""
        held = torch.tensor([len(ids) - 1 for ids in batch.ids])
        return Heeded(torch.zeros((LAYERS, len(batch), int(held.max()))), held - 1)

    def narrow(self, batch: Batch, entries: Tensor, room: int) -> Slice:
        return Slice.of(entries, room)

    def over(self, batch: Batch, part: Slice, tokens: Tensor, depth: int) -> Tensor:
        """Whatever is left out, it is the whole toy."""
        return self.early(batch, tokens, depth, LAYERS)[0]


def one_hot(ids: Tensor) -> Tensor:
    return torch.nn.functional.one_hot(ids, VOCABULARY).float()
