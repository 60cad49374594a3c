"""What a target of transformers lets a drafter do with its cache: draft over a slice of it, and know what its latest forward attended to."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from runners.engine.draft import Batch
from runners.engine.families import SLIDING
from runners.engine.heed import ATTENTION, Heed, Heeded, Seen, weigh
from runners.engine.slices import Slice
from runners.engine.slots import SlotCache
from runners.engine.target import Target


class Sliced(Target):
    stack: Any
    cache: SlotCache
    kinds: list[str]
    window: int | None

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        # What the attention of each layer is given on top: the one that takes its queries, where somebody needs them.
        self._asking: dict[str, Any] = {}
        self._seen: dict[int, Seen] = {}

    @abstractmethod
    def _starts(self, batch: Batch) -> Tensor: ...

    @abstractmethod
    def _head(self, hidden: Tensor) -> Tensor: ...

    @abstractmethod
    def _angles(self, hidden: Tensor, positions: Tensor) -> dict[str, Any]: ...

    @contextmanager
    def _heeding(self, slots: Sequence[int], columns: Sequence[tuple[int, int]], starts: Sequence[int]) -> Iterator[None]:
        """Of the forward inside, over tokens from `starts` on, the two `columns` of each row are kept for `heeded`, where they are needed."""
        if ATTENTION not in self.needs:
            yield
            return
        heed = Heed(torch.tensor(columns, dtype=torch.long, device=self.device))
        self._asking = {"heed": heed}
        try:
            yield
        finally:
            self._asking = {}
        for row, (slot, (first, last), start) in enumerate(zip(slots, columns, starts, strict=True)):
            self._seen[slot] = heed.seen(row, start + first, start + last)

    @torch.inference_mode()
    def heeded(self, batch: Batch) -> Heeded:
        if missing := [slot for slot in batch.slots if slot not in self._seen]:
            raise ValueError(f"nobody asked for the attention of the forwards over slots {missing}")
        seen = [self._seen[slot] for slot in batch.slots]
        queries = torch.stack([each.queries for each in seen], dim=1)
        firsts, lasts = torch.tensor([[each.first, each.last] for each in seen], device=self.device).T
        index = torch.arange(int(lasts.max()) + 1, device=self.device)
        ends = torch.stack([firsts, lasts], dim=1)[:, :, None]
        visible = index <= ends
        near = visible if self.window is None else visible & (index > ends - self.window)
        weights = [
            weigh(queries[layer], self.cache.seen(batch.slots, layer, len(index)), near if kind == SLIDING else visible, seen[0].scaling)
            for layer, kind in enumerate(self.kinds)
        ]
        return Heeded(torch.stack(weights), firsts)

    @torch.inference_mode()
    def narrow(self, batch: Batch, entries: Tensor, room: int) -> Slice:
        return self.cache.narrow(batch.slots, entries, room)

    @torch.inference_mode()
    def over(self, batch: Batch, part: Slice, tokens: Tensor, depth: int) -> Tensor:
        positions, hidden = self._starts(batch) + depth, self.stack.embed_tokens(tokens[:, None])
        angles = self._angles(hidden, positions)
        part.extend(positions)
        for number, kind in enumerate(self.kinds):
            mask = part.visible(number, self.window if kind == SLIDING else None)
            hidden = self.stack.layers[number](hidden, attention_mask=mask, position_embeddings=angles[kind], position_ids=positions, cache=part)
        for slot in batch.slots:
            self.passes[slot].draft += self.layers
        return self._head(hidden[:, 0])
