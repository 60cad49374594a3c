"""A target's layers by halves: block 2i is the attention of layer i, block 2i + 1 its MLP, each with its norms and its residual."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from runners.engine.draft import Batch, Watch
from runners.engine.slots import SlotCache

# Blocks that a draft step leaves out.
Skips = frozenset[int]


def attend(layer: Any, hidden: Tensor, **seen: Any) -> Tensor:
    """The first half of a decoder layer of transformers; `seen` as the layer itself takes it."""
    found: Tensor = layer.self_attn(hidden_states=layer.input_layernorm(hidden), **seen)[0]
    if hasattr(layer, "pre_feedforward_layernorm"):  # Gemma's, whose norm behind attention stands before the residual
        found = layer.post_attention_layernorm(found)
    return hidden + found


def feed(layer: Any, hidden: Tensor) -> Tensor:
    """The second half."""
    if hasattr(layer, "pre_feedforward_layernorm"):
        found: Tensor = layer.post_feedforward_layernorm(layer.mlp(layer.pre_feedforward_layernorm(hidden)))
    else:
        found = layer.mlp(layer.post_attention_layernorm(hidden))
    return hidden + found


class States(Watch):
    """The states `[H]` before each block and behind the last one of the tokens of a round, by their depth behind the last committed token.

    With `halves` the states between attention and MLP are kept too; without it blocks are whole layers. What lies behind a row's own draft means
    nothing.
    """

    def __init__(self, slots: int, *, halves: bool) -> None:
        self.halves = halves
        self._starts = [0] * slots
        self._held: Tensor | None = None
        # Positions of the pass under way and the depths that they are: the same at all of its boundaries.
        self._pass: tuple[Tensor, Tensor] | None = None

    def begin(self, batch: Batch) -> None:
        """A round begins: what was seen of these slots is void."""
        self._pass = None
        for slot, ids in zip(batch.slots, batch.ids, strict=True):
            self._starts[slot] = len(ids) - 1

    def put(self, boundary: int, boundaries: int, rows: Tensor, positions: Tensor, hidden: Tensor) -> None:
        """`hidden` `[R, n, H]` of the slots `rows` `[R]` at `positions` `[R, n]`, at one of so many boundaries between blocks."""
        if self._pass is None or self._pass[0] is not positions:
            starts = torch.tensor(self._starts, dtype=torch.long, device=rows.device)
            depths = positions - starts[rows][:, None]
            self._make_room(boundaries, int(depths.max()) + 1, hidden)
            self._pass = positions, depths
        assert self._held is not None
        self._held[boundary, rows[:, None], self._pass[1]] = hidden

    def _make_room(self, boundaries: int, width: int, hidden: Tensor) -> None:
        held = self._held
        if held is not None and held.shape[2] >= width:
            return
        made = hidden.new_zeros((boundaries, len(self._starts), 2 * width, hidden.shape[-1]))
        if held is not None:
            made[:, :, : held.shape[2]] = held
        self._held = made

    def of(self, slot: int, first: int, last: int) -> Tensor:
        """Of the tokens at depths `first` … `last` − 1 of the last round: `[boundaries, n, H]`."""
        assert self._held is not None, "no round was watched"
        return self._held[:, slot, first:last]


@dataclass(frozen=True)
class BlockCosts:
    """Seconds that a block takes for one token behind `n` others: attention `attention + per_entry` · n, an MLP `mlp`."""

    attention: float
    per_entry: float
    mlp: float

    def attention_at(self, entries: int) -> float:
        return self.attention + self.per_entry * entries


@dataclass(frozen=True)
class Beside:
    """Tokens `[1, K]` that are run beside a slot's text, on states of their own; of all that is computed nothing is kept in the cache."""

    slot: int
    cache: "Aside"
    positions: Tensor
    masks: dict[str, Tensor]
    angles: dict[str, Any]


class Aside:
    """A slot's cache as such tokens see it: the first `width` entries, and behind them the tokens' own, which are written nowhere."""

    def __init__(self, cache: SlotCache, slot: int, width: int) -> None:
        self._cache, self._slot, self._width = cache, slot, width

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: object, **__: object) -> tuple[Tensor, Tensor]:
        """Called by attention with `[1, heads, K, dim]`; returns `[1, heads, width + K, dim]`."""
        known = (held[layer][self._slot : self._slot + 1, :, : self._width] for held in (self._cache.keys, self._cache.values))
        return torch.cat([next(known), keys], dim=2), torch.cat([next(known), values], dim=2)


def beside_masks(positions: Tensor, known: Tensor, seen: Tensor, width: int, window: int | None, shared_by: int) -> tuple[Tensor, Tensor]:
    """What tokens at `positions` `[K]` see, folded as `folded` wants it, `[1, 1, g·K, width + K]`: of the cache the first `known` `[K]` entries, of
    each other what `seen` `[K, K]` says. The second of the two is the same within a `window`."""
    index = torch.arange(width, device=positions.device)
    full = torch.cat([index < known[:, None], seen], dim=1)
    places = torch.cat([index, positions])
    near = full if window is None else full & (places > positions[:, None] - window)
    return full.repeat(shared_by, 1)[None, None], near.repeat(shared_by, 1)[None, None]


def groups_of(skips: Sequence[Skips], block: int) -> tuple[int, ...]:
    """The rows that run a block."""
    return tuple(row for row, left_out in enumerate(skips) if block not in left_out)
