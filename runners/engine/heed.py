"""What the queries of a forward attended to, kept for drafters that ask for it."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

# A drafter's need of it.
ATTENTION = "attention"


@dataclass
class Heed:
    """Takes the queries `[R, heads, 2, dim]` of two tokens of each row from every layer of a forward in its order; `columns` `[R, 2]` say which."""

    columns: Tensor
    queries: list[Tensor] = field(default_factory=list)
    scaling: float | None = None

    def take(self, query: Tensor, scaling: float | None) -> None:
        """Called by the attention of each layer with its `query` `[R, heads, n, dim]`."""
        _, heads, _, dim = query.shape
        self.queries.append(query.gather(2, self.columns[:, None, :, None].expand(-1, heads, -1, dim)))
        self.scaling = scaling

    def seen(self, row: int, first: int, last: int) -> "Seen":
        """Of a row whose two tokens stand at these positions."""
        return Seen(torch.stack([query[row] for query in self.queries]), self.scaling, first, last)


@dataclass(frozen=True)
class Seen:
    """Queries `[layers, heads, 2, dim]` of the first and the last token of a slot's latest forward, and their positions."""

    queries: Tensor
    scaling: float | None
    first: int
    last: int


@dataclass(frozen=True)
class Heeded:
    """`weights` `[layers, R, W]`: the attention that the entries of a text got from both tokens, mean over them and all heads. `firsts` `[R]`: the
    position of the first of them, so that what stands behind it is newer."""

    weights: Tensor
    firsts: Tensor


def weigh(queries: Tensor, keys: Tensor, visible: Tensor, scaling: float | None) -> Tensor:
    """Attention weights of `queries` `[R, heads, 2, dim]` over `keys` `[R, groups, W, dim]`, of which `visible` `[R, 2, W]` can be seen: softmax
    over the visible ones, then the mean over heads and both queries, `[R, W]`."""
    rows, heads, two, dim = queries.shape
    groups = keys.shape[1]
    folded = queries.reshape(rows, groups, heads // groups * two, dim)
    # In this order keys are read as they lie.
    scores = (keys @ folded.transpose(2, 3)).transpose(2, 3).float() * (dim**-0.5 if scaling is None else scaling)
    hidden = ~visible.repeat(1, heads // groups, 1)[:, None]
    return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1).mean(dim=(1, 2))
