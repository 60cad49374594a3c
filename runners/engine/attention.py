"""Attention over a slot cache that reads each key-value head once, however many query heads share it."""

import copy
from typing import Any

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from runners.engine.heed import Heed

NAME = "bezmen_folded"


def folded(
    _: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, *, scaling: float | None = None, heed: Heed | None = None, **__: Any
) -> tuple[Tensor, None]:
    """Grouped-query attention of `query` `[R, heads, n, d]`: the g queries that share a key-value head stand one behind the other as g·n rows of it.

    The library repeats keys and values instead, which copies the whole visible cache at every layer. `mask` `[R, 1, g·n, width]` is folded already,
    once for all layers (`fold`). Returns `[R, n, heads, d]`; a `heed` takes the queries that it keeps.
    """
    if heed is not None:
        heed.take(query, scaling)
    rows, heads, n, dim = query.shape
    groups = key.shape[1]
    found = scaled_dot_product_attention(query.reshape(rows, groups, heads // groups * n, dim), key, value, attn_mask=mask, scale=scaling)
    return found.reshape(rows, heads, n, dim).transpose(1, 2).contiguous(), None


AttentionInterface.register(NAME, folded)


def fold(positions: Tensor, shared_by: int) -> Tensor:
    """The positions `[R, n]` of queries, as `folded` lines them up where `shared_by` heads share keys and values: `[R, g·n]`."""
    return positions.repeat(1, shared_by)


def with_folded(model: Any) -> Any:
    """The same model, weight for weight in the same memory, attending by `folded`; the one given stays as the library has it."""
    weights = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    ours = copy.deepcopy(model, weights)
    ours.config._attn_implementation = NAME
    return ours
