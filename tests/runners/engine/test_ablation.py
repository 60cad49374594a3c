"""Scoring a text with a part of the model left out."""

import pytest
import torch

from runners.engine.ablation import Component, LastLayers, UnfitAblation, logits
from runners.engine.transformers_target import TransformersTarget
from tests.models import VOCABULARY, tiny, tiny_model

IDS = [(index * 31 + 7) % VOCABULARY for index in range(40)]


@pytest.mark.parametrize("family", ["llama", "qwen2_window", "gemma3"])
def test_nothing_left_out_is_the_library_s_own_model(family: str) -> None:
    """Catches positions, masks or a head that are not the model's: the full score equals the library's forward over the same text."""
    with torch.inference_mode():
        expected = tiny_model(family)(torch.tensor([IDS])).logits[0]
    assert (logits(tiny(family), IDS, LastLayers(0)) - expected).abs().max().item() < 1e-4


def test_last_layers_left_out_are_a_shallower_model() -> None:
    """Catches layers counted from the wrong end, or one too many: the score equals that of a model that has no such layers."""
    model = tiny_model("llama")
    shallow = tiny_model("llama")
    shallow.model.layers = shallow.model.layers[:4]
    shallow.config.num_hidden_layers = 4
    with torch.inference_mode():
        expected = shallow(torch.tensor([IDS]), use_cache=False).logits[0]
    target = TransformersTarget(model, slots=1, context=64, eos=frozenset())
    found = logits(target, IDS, LastLayers(2))
    assert (found - expected).abs().max().item() < 1e-4
    assert (found - logits(target, IDS, LastLayers(0))).abs().max().item() > 0.1


def test_a_text_scored_after_another_scores_the_same() -> None:
    """Catches a text that sees what an earlier one left in the slot."""
    target = tiny("qwen3")
    first = logits(target, IDS, LastLayers(1))
    logits(target, IDS[::-1], LastLayers(0))
    assert torch.equal(logits(target, IDS, LastLayers(1)), first)


@pytest.mark.parametrize(
    ("target", "ablation", "reason"),
    [
        ("llama", Component(), "no hybrid"),
        ("llama", LastLayers(6), "6 layers cannot be left out of 6"),
        ("llama", LastLayers(-1), "-1 layers"),
        ("toy", LastLayers(1), "no layers"),
    ],
)
def test_a_part_that_is_not_there_is_refused(target: str, ablation: Component | LastLayers, reason: str) -> None:
    """Catches a score of the whole model, or of an empty one, under the name of an ablated one."""
    with pytest.raises(UnfitAblation, match=reason):
        logits(tiny(target), IDS, ablation)


def test_a_text_past_the_context_is_refused() -> None:
    """Catches a text that is cut, or written past the cache."""
    with pytest.raises(ValueError, match="do not fit"):
        logits(tiny("llama", context=32), IDS, LastLayers(1))
