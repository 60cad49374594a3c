"""Attention that folds query heads, and the model that attends by it."""

from typing import Any

import pytest
import torch

from runners.engine.attention import NAME, fold, folded, with_folded
from tests.models import tiny_model


@pytest.mark.parametrize("heads", [2, 4, 6])
@pytest.mark.parametrize("new", [1, 3])
def test_folding_changes_nothing(heads: int, new: int) -> None:
    """Catches query heads that read the keys of a neighbour, and rows of a mask that stand behind the wrong query."""
    torch.manual_seed(0)
    query, keys, values = torch.randn(2, heads, new, 8), torch.randn(2, 2, 20, 8), torch.randn(2, 2, 20, 8)
    positions, shared_by, index = torch.tensor([[5], [11]]) + torch.arange(new), heads // 2, torch.arange(20)
    repeated = [each.repeat_interleave(shared_by, dim=1) for each in (keys, values)]
    wanted = torch.nn.functional.scaled_dot_product_attention(query, *repeated, attn_mask=index <= positions[:, None, :, None])
    found, _ = folded(None, query, keys, values, index <= fold(positions, shared_by)[:, None, :, None])
    assert (found.transpose(1, 2) - wanted).abs().max() < 1e-6


def test_the_librarys_model_stays_as_it_is_and_shares_its_weights() -> None:
    """Catches a control arm that attends by our code, and weights that are held twice."""
    model: Any = tiny_model("llama")
    ours = with_folded(model)
    assert (model.config._attn_implementation, model.model.layers[0].self_attn.config._attn_implementation) == ("sdpa", "sdpa")
    assert ours.model.layers[0].self_attn.config._attn_implementation == NAME
    assert {t.data_ptr() for t in ours.parameters()} == {t.data_ptr() for t in model.parameters()}
