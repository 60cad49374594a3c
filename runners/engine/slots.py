"""A static key-value cache of slots: load is real batching, rollback is a change of length."""

import torch
from torch import Tensor

from runners.engine.slices import Slice


class SlotCache:
    """Keys and values `[B, heads, L, dim]` per layer; attention layers write at the positions of the forward in hand and read what is visible.

    Nothing is ever cut: what lies past a row's length is masked by position, and the next tokens overwrite it.
    """

    def __init__(self, shapes: list[tuple[int, int]], slots: int, context: int, dtype: torch.dtype, device: torch.device) -> None:
        """`shapes` holds (key-value heads, head dimension) of each layer."""
        self.slots = slots
        self.context = context
        self.keys = [torch.zeros((slots, heads, context, dim), dtype=dtype, device=device) for heads, dim in shapes]
        self.values = [torch.zeros_like(keys) for keys in self.keys]

    def aim(self, slots: tuple[int, ...], positions: Tensor, width: int) -> "Aimed":
        """Where a forward writes: `positions` `[R, n]` of the rows `slots`, which may see the first `width` entries."""
        rows = torch.tensor(slots, dtype=torch.long, device=positions.device)
        return Aimed(self, rows, positions, width, _read(slots, rows))

    def seen(self, slots: tuple[int, ...], layer: int, width: int) -> Tensor:
        """The first `width` keys `[R, heads, width, dim]` of a layer."""
        return self.keys[layer][_read(slots, torch.tensor(slots, device=self.keys[layer].device)), :, :width]

    def narrow(self, slots: tuple[int, ...], entries: Tensor, room: int) -> Slice:
        """Gathers `entries` `[layers, R, m]` of the rows `slots`, with room for `room` tokens behind them."""
        made, (rows, kept) = Slice.of(entries, room), entries.shape[1:]
        for held, found in ((self.keys, made.keys), (self.values, made.values)):
            for layer, each in enumerate(held):
                heads, dim = each.shape[1], each.shape[3]
                # One selection over all rows and heads takes a tenth of the time of indexing by three.
                starts = torch.tensor(slots, device=each.device)[:, None] * heads + torch.arange(heads, device=each.device)
                places = starts[:, :, None] * each.shape[2] + entries[layer].clamp(min=0)[:, None]
                fresh = each.new_empty((rows, heads, kept + room, dim))
                fresh[:, :, :kept] = each.view(-1, dim).index_select(0, places.flatten()).view(rows, heads, kept, dim)
                found.append(fresh)
        return made

    def move(self, slots: Tensor, froms: Tensor, tos: Tensor) -> None:
        """Copies entries `[m]` of each layer within their slots, all read before any is written."""
        for held in (*self.keys, *self.values):
            held[slots, :, tos] = held[slots, :, froms]

    def bytes(self) -> int:
        return sum(t.numel() * t.element_size() for t in (*self.keys, *self.values))


def _read(slots: tuple[int, ...], rows: Tensor) -> slice | Tensor:
    """Neighbouring slots are read as a view; a gather would copy the whole cache at every layer."""
    neighbours = slots == tuple(range(slots[0], slots[0] + len(slots)))
    return slice(slots[0], slots[0] + len(slots)) if neighbours else rows


class Aimed:
    """The cache as one forward sees it. `rows` `[R]` are written, `read` chooses the same ones."""

    def __init__(self, cache: SlotCache, rows: Tensor, positions: Tensor, width: int, read: slice | Tensor) -> None:
        self._keys, self._values = cache.keys, cache.values
        self.rows = rows
        self._where = (rows[:, None], slice(None), positions)
        self._read, self._width = read, width

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: object, **__: object) -> tuple[Tensor, Tensor]:
        """Called by the attention of layer `layer` with `[R, heads, n, dim]`; returns the rows' visible keys and values `[R, heads, width, dim]`."""
        self._keys[layer][self._where] = keys.transpose(1, 2)
        self._values[layer][self._where] = values.transpose(1, 2)
        return self._keys[layer][self._read, :, : self._width], self._values[layer][self._read, :, : self._width]
