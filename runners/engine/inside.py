"""What a target of transformers lets a drafter do between its layers: leave blocks out, run blocks beside the text, see the states of a pass."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor

from runners.engine import block_costs
from runners.engine.attention import fold
from runners.engine.blocks import Aside, Beside, BlockCosts, Skips, attend, beside_masks, feed, groups_of
from runners.engine.draft import Batch, Watch
from runners.engine.families import FULL, SLIDING
from runners.engine.slots import SlotCache
from runners.engine.target import Target


class Inside(Target):
    opens: ClassVar[bool] = True

    stack: Any
    cache: SlotCache
    kinds: list[str]
    window: int | None
    shared_by: int

    @abstractmethod
    def _starts(self, batch: Batch) -> Tensor: ...

    @abstractmethod
    def _head(self, hidden: Tensor) -> Tensor: ...

    @abstractmethod
    def _layers(self, hidden: Tensor, slots: tuple[int, ...], positions: Tensor, first: int, last: int, watch: Watch | None = None) -> Tensor: ...

    @abstractmethod
    def _masks(self, positions: Tensor, width: int) -> dict[str, Tensor]: ...

    @abstractmethod
    def _angles(self, hidden: Tensor, positions: Tensor) -> dict[str, Any]: ...

    @torch.inference_mode()
    def skipping(self, batch: Batch, tokens: Tensor, depth: int, skips: Sequence[Skips]) -> Tensor:
        hidden, everyone = self.stack.embed_tokens(tokens[:, None]), tuple(range(len(batch)))
        positions = self._starts(batch) + depth
        width = int(positions.max()) + 1
        seen: dict[tuple[int, ...], list[dict[str, Any]]] = {}
        for number in range(2 * self.layers):
            rows = groups_of(skips, number)
            if not rows:
                continue
            if rows not in seen:
                seen[rows] = self._views(batch.rows(list(rows)), positions[list(rows)], hidden, width)
            if rows == everyone:
                hidden = self._block(number, hidden, seen[rows])
            else:
                hidden = hidden.clone()
                hidden[list(rows)] = self._block(number, hidden[list(rows)], seen[rows])
        for slot, left_out in zip(batch.slots, skips, strict=True):
            self.passes[slot].halves += 2 * self.layers - len(left_out)
        return self._head(hidden[:, 0])

    def _views(self, batch: Batch, positions: Tensor, hidden: Tensor, width: int) -> list[dict[str, Any]]:
        """What the attention of each layer is given, for these rows."""
        cache = self.cache.aim(batch.slots, positions, width)
        masks, angles = self._masks(fold(positions, self.shared_by), width), self._angles(hidden, positions)
        return [_view(masks[kind], angles[kind], positions, cache) for kind in self.kinds]

    def _block(self, number: int, hidden: Tensor, views: Sequence[dict[str, Any]]) -> Tensor:
        layer = self.stack.layers[number // 2]
        return feed(layer, hidden) if number % 2 else attend(layer, hidden, **views[number // 2])

    @torch.inference_mode()
    def scores(self, ids: Sequence[int], layers: int, left_out: frozenset[int] = frozenset()) -> Tensor:
        assert not left_out, "its layers have no mixer but attention"
        self._check_room(ids)
        tokens = torch.tensor([list(ids)], dtype=torch.long, device=self.device)
        positions = torch.arange(len(ids), device=self.device)[None]
        return self._head(self._layers(self.stack.embed_tokens(tokens), (0,), positions, 0, layers))[0]

    @torch.inference_mode()
    def embed(self, tokens: Tensor) -> Tensor:
        states: Tensor = self.stack.embed_tokens(tokens)
        return states

    @torch.inference_mode()
    def head(self, hidden: Tensor) -> Tensor:
        return self._head(hidden)

    @torch.inference_mode()
    def beside(self, slot: int, positions: Tensor, known: Tensor, seen: Tensor) -> Beside:
        width = int(known.max())
        full, near = beside_masks(positions, known, seen, width, self.window, self.shared_by)
        dummy = self.cache.keys[0].new_zeros(1)
        angles = self._angles(dummy, positions[None])
        return Beside(slot, Aside(self.cache, slot, width), positions[None], {FULL: full, SLIDING: near}, angles)

    @torch.inference_mode()
    def block(self, number: int, hidden: Tensor, beside: Beside) -> Tensor:
        kind, layer = self.kinds[number // 2], self.stack.layers[number // 2]
        self.passes[beside.slot].halves += len(hidden)
        if number % 2:
            return feed(layer, hidden[None])[0]
        return attend(layer, hidden[None], **_view(beside.masks[kind], beside.angles[kind], beside.positions, beside.cache))[0]

    def block_costs(self) -> BlockCosts:
        return self._costs

    @cached_property
    @torch.inference_mode()
    def _costs(self) -> BlockCosts:
        """Of the layer in the middle, in the first slot; what the cache holds there is put back."""
        number, hidden = self.layers // 2, self.stack.embed_tokens(torch.zeros((1, 1), dtype=torch.long, device=self.device))
        held = (self.cache.keys[number], self.cache.values[number])
        before = [each[:1].clone() for each in held]

        def attention(entries: int) -> Callable[[], Tensor]:
            batch = Batch((0,), ([0] * (entries + 1),))
            views = self._views(batch, self._starts(batch), hidden, entries + 1)
            return lambda: self._block(2 * number, hidden, views)

        found = block_costs.measure(self.device, self.context, attention, lambda: self._block(2 * number + 1, hidden, ()))
        for each, was in zip(held, before, strict=True):
            each[:1] = was
        return found


def _view(mask: Tensor, angles: Any, positions: Tensor, cache: Any) -> dict[str, Any]:
    return {"attention_mask": mask, "position_embeddings": angles, "position_ids": positions, "cache": cache}


def watched(watch: Watch, number: int, layers: int, rows: Tensor, layer: Any, hidden: Tensor, seen: dict[str, Any]) -> Tensor:
    """Layer `number` of so many over `hidden` `[R, n, H]`; `watch` is told the states before it, within it and, of the last one, behind it."""
    step, positions = 2 if watch.halves else 1, seen["position_ids"]
    boundaries = step * layers + 1
    watch.put(step * number, boundaries, rows, positions, hidden)
    if watch.halves:
        hidden = attend(layer, hidden, **seen)
        watch.put(step * number + 1, boundaries, rows, positions, hidden)
        hidden = feed(layer, hidden)
    else:
        hidden = layer(hidden, **seen)
    if number == layers - 1:
        watch.put(boundaries - 1, boundaries, rows, positions, hidden)
    return hidden
