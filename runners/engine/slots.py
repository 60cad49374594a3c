"""A static key-value cache of slots: load is real batching, rollback is a change of length."""

import torch
from torch import Tensor


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
        self._rows: Tensor = torch.arange(0)
        self._positions: Tensor = torch.arange(0)
        self._width = 0
        self._all = False

    def aim(self, slots: tuple[int, ...], positions: Tensor, width: int) -> None:
        """Says where the next forward writes: `positions` `[R, n]` of the rows `slots`, which may see the first `width` entries."""
        self._rows = torch.tensor(slots, dtype=torch.long, device=positions.device)
        self._positions = positions
        self._width = width
        # Neighbouring slots are read as a view; a gather would copy the whole cache at every layer.
        self._all = slots == tuple(range(slots[0], slots[0] + len(slots)))
        self._first = slots[0]

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: object, **__: object) -> tuple[Tensor, Tensor]:
        """Called by the attention of layer `layer` with `[R, heads, n, dim]`; returns the rows' visible keys and values `[R, heads, width, dim]`."""
        where = (self._rows[:, None], slice(None), self._positions)
        self.keys[layer][where] = keys.transpose(1, 2)
        self.values[layer][where] = values.transpose(1, 2)
        rows = slice(self._first, self._first + len(self._rows)) if self._all else self._rows
        return self.keys[layer][rows, :, : self._width], self.values[layer][rows, :, : self._width]

    def bytes(self) -> int:
        return sum(t.numel() * t.element_size() for t in (*self.keys, *self.values))
