"""Proposals that branch: their shape, and what each token of one sees."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

# Column and index of the last committed token, behind which a tree stands.
ROOT = 0


@dataclass(frozen=True)
class Tree:
    """The shape of a proposal, a tuple a row. `parents`: each node's parent by index, −1 being the last committed token; a parent stands before its
    children, and children of one parent stand in the order in which they were chosen. `columns`: where each node's keys and values lie behind the
    last committed token, whose own column is 0."""

    parents: tuple[tuple[int, ...], ...]
    columns: tuple[tuple[int, ...], ...]

    def depths(self, row: int) -> list[int]:
        """Of each node; a child of the last committed token has 1."""
        found: list[int] = []
        for parent in self.parents[row]:
            found.append(1 if parent < 0 else found[parent] + 1)
        return found

    def height(self, row: int) -> int:
        """The longest path."""
        return max(self.depths(row), default=0)

    def children(self, row: int) -> list[list[int]]:
        """Of each node by index + 1; those of the last committed token come first."""
        found: list[list[int]] = [[] for _ in range(len(self.parents[row]) + 1)]
        for node, parent in enumerate(self.parents[row]):
            found[parent + 1].append(node)
        return found

    def spots(self, row: int, root: int, tokens: Sequence[int]) -> list["Spot"]:
        """The last committed token `root` and, behind it, the row's nodes."""
        found = [Spot(root, (ROOT,))]
        for token, parent, column in zip(tokens, self.parents[row], self.columns[row], strict=False):
            found.append(Spot(token, (*found[parent + 1].path, column)))
        return found


@dataclass(frozen=True)
class Spot:
    """A token in a tree. `path`: the columns from the last committed token down to its own."""

    token: int
    path: tuple[int, ...]

    @property
    def column(self) -> int:
        return self.path[-1]

    @property
    def depth(self) -> int:
        return len(self.path) - 1


@dataclass(frozen=True)
class Look:
    """Tokens that one forward runs, each row in its own tree: `tokens`, `columns` and `depths` `[R, n]`; `seen` `[R, n, c]`, which of the first c
    columns each of them sees, its own among them; `heights` `[R, c]`, the depth of what lies in each column. Of row r the first `counts[r]` are real;
    behind them its first token stands again, which writes what it has written before."""

    tokens: Tensor
    columns: Tensor
    depths: Tensor
    seen: Tensor
    heights: Tensor
    counts: tuple[int, ...]

    @classmethod
    def at(cls, rows: Sequence[Sequence[Spot]], device: torch.device) -> "Look":
        """Each row holds at least one spot."""
        counts = tuple(len(row) for row in rows)
        width = 1 + max(max(spot.path) for row in rows for spot in row)
        seen = np.zeros((len(rows), max(counts), width), dtype=bool)
        heights = np.zeros((len(rows), width), dtype=np.int64)
        numbers = np.zeros((3, len(rows), max(counts)), dtype=np.int64)
        for r, row in enumerate(rows):
            for i in range(max(counts)):
                spot = row[i] if i < len(row) else row[0]
                seen[r, i, list(spot.path)] = True
                heights[r, list(spot.path)] = range(len(spot.path))
                numbers[:, r, i] = spot.token, spot.column, spot.depth
        tokens, columns, depths = torch.from_numpy(numbers).to(device)
        return cls(tokens, columns, depths, torch.from_numpy(seen).to(device), torch.from_numpy(heights).to(device), counts)

    def visible(self, starts: Tensor, width: int, window: int | None = None) -> Tensor:
        """Which of the first `width` entries of the cache each token sees, `[R, n, width]`; `starts` `[R]` are the positions of the last committed
        tokens. What stands before those is seen by all. A `window` reaches back over positions: a node's is its depth's, wherever it lies."""
        index = torch.arange(width, device=starts.device)
        found = (index < starts[:, None, None]).expand(-1, self.tokens.shape[1], -1).clone()
        own = self.seen
        if window is not None:
            found &= index > (starts[:, None] + self.depths)[:, :, None] - window
            own = own & (self.heights[:, None, :] > self.depths[:, :, None] - window)
        places = (starts[:, None] + torch.arange(own.shape[2], device=starts.device))[:, None, :].expand_as(own)
        return found.scatter(2, places, own)
