"""What passes between loop, drafter, target and verifier."""

from dataclasses import dataclass
from typing import Protocol, Self

import torch
from torch import Tensor

from runners.engine.tree import Tree


@dataclass(frozen=True)
class Batch:
    """The sequences taking part in one step. Row r sits in `slots[r]` and has committed `ids[r]`, prompt included;
    the target's cache holds all of them but the last, which is fed with the draft."""

    slots: tuple[int, ...]
    ids: tuple[list[int], ...]

    def __len__(self) -> int:
        return len(self.slots)

    def rows(self, chosen: list[int]) -> "Batch":
        return Batch(tuple(self.slots[r] for r in chosen), tuple(self.ids[r] for r in chosen))


class Watch(Protocol):
    """Told the states between blocks while a target computes them: after each layer, and with `halves` also behind its attention."""

    halves: bool

    def put(self, boundary: int, boundaries: int, rows: Tensor, positions: Tensor, hidden: Tensor) -> None: ...


@dataclass(frozen=True)
class Resume:
    """Target work already done for the positions of the last committed token and of all drafts but the deepest:
    hidden states `[B, n, H]` at the output of layer `exit_layer` − 1. Of a tree they are `[B, n + 1, H]`, and `missing` names per row those that are
    not there, by index behind the last committed token, which is 0."""

    exit_layer: int
    hidden: Tensor
    missing: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Draft:
    """Proposed tokens `[B, n]`, of which row r uses the first `lengths[r]`. Without a `tree` each stands behind the one before it: a chain.
    `probabilities` `[B, n, V]`, the law behind each token's parent that it was drawn from, or None for a proposal that was not sampled; siblings in a
    tree were drawn from one law without replacement. `watch` is told what the verification of a chain computes."""

    tokens: Tensor
    lengths: tuple[int, ...]
    probabilities: Tensor | None = None
    resume: Resume | None = None
    tree: Tree | None = None
    watch: Watch | None = None

    @classmethod
    def chain(
        cls,
        tokens: Tensor,
        lengths: tuple[int, ...],
        *,
        probabilities: Tensor | None = None,
        resume: Resume | None = None,
        watch: Watch | None = None,
    ) -> Self:
        return cls(tokens, lengths, probabilities, resume, watch=watch)

    @classmethod
    def empty(cls, rows: int, device: torch.device) -> Self:
        return cls.chain(torch.zeros((rows, 0), dtype=torch.long, device=device), (0,) * rows)

    @classmethod
    def from_lists(cls, proposals: list[list[int]], device: torch.device) -> Self:
        """A chain per row from token lists of any lengths; short rows are padded with 0, which `lengths` hides."""
        width = max((len(p) for p in proposals), default=0)
        padded = [p + [0] * (width - len(p)) for p in proposals]
        tokens = torch.tensor(padded, dtype=torch.long, device=device).reshape(len(proposals), width)
        return cls.chain(tokens, tuple(len(p) for p in proposals))

    @property
    def width(self) -> int:
        return int(self.tokens.shape[1])

    @property
    def depths(self) -> tuple[int, ...]:
        """The longest path of each row: of a chain its length."""
        return self.lengths if self.tree is None else tuple(self.tree.height(row) for row in range(len(self.lengths)))


@dataclass(frozen=True)
class Accepted:
    """Per row: how many drafts were kept, and the target's own next token behind them (recovered or bonus). `paths`: of a tree the nodes that were
    kept, from the last committed token on; of a chain they are the first."""

    kept: list[int]
    next: list[int]
    paths: list[list[int]] | None = None

    @classmethod
    def of_paths(cls, paths: list[list[int]], behind: list[int]) -> Self:
        return cls([len(path) for path in paths], behind, paths)

    def path(self, row: int) -> list[int]:
        """The kept nodes of a row by index."""
        return list(range(self.kept[row])) if self.paths is None else self.paths[row]
