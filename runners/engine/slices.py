"""A few entries of a cache, gathered for the drafts of one round."""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor


@dataclass
class Slice:
    """Of each layer the chosen entries, with room behind them for what is drafted: nothing of a draft is written into the cache itself.

    `where` `[layers, R, m + room]` are the positions of the entries in the text, −1 where a row has none (in the same columns of every layer);
    `keys` and `values` `[R, heads, m + room, dim]` per layer; the first `filled` columns hold something.
    """

    where: Tensor
    keys: list[Tensor]
    values: list[Tensor]
    filled: int

    @classmethod
    def of(cls, entries: Tensor, room: int) -> Self:
        """Around `entries` `[layers, R, m]`, whose keys and values are still to come."""
        return cls(torch.nn.functional.pad(entries, (0, room), value=-1), [], [], entries.shape[2])

    def rows(self, chosen: list[int]) -> Self:
        """The same for some of its rows."""
        keys, values = ([each[chosen] for each in held] for held in (self.keys, self.values))
        return type(self)(self.where[:, chosen], keys, values, self.filled)

    def extend(self, positions: Tensor) -> None:
        """Opens the next column for tokens at `positions` `[R, 1]`; `update` fills it."""
        self.where[:, :, self.filled] = positions[:, 0]
        self.filled += 1

    def visible(self, layer: int, window: int | None = None) -> Tensor:
        """`[R, 1, 1, filled]`: what the last token sees of a layer, which may reach back over `window` positions."""
        where = self.where[layer, :, : self.filled]
        seen = where >= 0 if window is None else (where >= 0) & (where > where[:, -1:] - window)
        return seen[:, None, None]

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: object, **__: object) -> tuple[Tensor, Tensor]:
        """Called by the attention of layer `layer` with `[R, heads, 1, dim]`; returns `[R, heads, filled, dim]`."""
        at = self.filled - 1
        self.keys[layer][:, :, at : at + 1] = keys
        self.values[layer][:, :, at : at + 1] = values
        return self.keys[layer][:, :, : self.filled], self.values[layer][:, :, : self.filled]
