"""What a target of transformers lets a drafter do with its experts: know which ones its latest forward used, and draft with fewer."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from runners.engine.draft import Batch
from runners.engine.experts import ROUTING, Experts, Steering, Switch, Tally
from runners.engine.target import Target


class Routed(Target):
    stack: Any
    experts: Experts | None
    switch: Switch

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.switch = Switch()
        # Of each slot the experts of its latest forward, `[S, E]`.
        self._used: dict[int, Tensor] = {}

    @abstractmethod
    def _starts(self, batch: Batch) -> Tensor: ...

    @abstractmethod
    def _head(self, hidden: Tensor) -> Tensor: ...

    @abstractmethod
    def _layers(self, hidden: Tensor, slots: tuple[int, ...], positions: Tensor, first: int, last: int) -> Tensor: ...

    @contextmanager
    def _prefilled(self, slot: int) -> Iterator[None]:
        """Of the prefill inside only its last token counts: a long prompt uses every expert."""
        if self.experts is None or ROUTING not in self.needs:
            yield
            return
        tally = Tally()
        with self.switch.to(tally):
            yield
        last = Tally([chosen[-1:] for chosen in tally.chosen])
        self._used[slot] = last.used(1, [1], self.experts.count)[:, 0]
        self.passes[slot].experts_read = self.passes[slot].experts_chosen = 0

    @contextmanager
    def _tallied(self, slots: Sequence[int], lengths: Sequence[int]) -> Iterator[None]:
        """Of the verification inside each row's own tokens count, and what carried no draft is a plain step."""
        if self.experts is None or ROUTING not in self.needs:
            yield
            return
        tally = Tally()
        with self.switch.to(tally):
            yield
        used = tally.used(len(slots), [length + 1 for length in lengths], self.experts.count)
        for row, (slot, length, read) in enumerate(zip(slots, lengths, used.sum(dim=(0, 2)).tolist(), strict=True)):
            self._used[slot] = used[:, row]
            if length:
                self.passes[slot].read(read, self.experts.layers * self.experts.chosen * (length + 1))

    def routed(self, batch: Batch) -> Tensor:
        if missing := [slot for slot in batch.slots if slot not in self._used]:
            raise ValueError(f"nobody asked for the experts of the forwards over slots {missing}")
        return torch.stack([self._used[slot] for slot in batch.slots], dim=1)

    @torch.inference_mode()
    def steered(self, batch: Batch, tokens: Tensor, depth: int, steering: Steering) -> Tensor:
        positions = self._starts(batch) + depth
        with self.switch.to(steering):
            hidden = self._layers(self.stack.embed_tokens(tokens[:, None]), batch.slots, positions, 0, self.layers)
        for slot in batch.slots:
            self.passes[slot].draft += self.layers
        return self._head(hidden[:, 0])
