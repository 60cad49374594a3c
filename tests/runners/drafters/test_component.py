"""Drafts of a hybrid without its attention."""

from typing import Any

import pytest
import torch

from runners.drafters.base import UnfitDrafter
from runners.drafters.component import Component as ComponentDrafter
from runners.engine.ablation import Component, LastLayers, UnfitAblation, logits
from runners.engine.draft import Batch
from runners.engine.hybrid_target import HybridTarget
from runners.engine.stops import StopRules
from runners.parts import drafters
from tests.hybrids import HYBRIDS, hybrid, hybrid_model
from tests.models import by_prompt, loop_of, plain_loop, prompts, spec, tiny

IDS = [(index * 31 + 7) % 97 for index in range(40)]


@pytest.fixture(params=HYBRIDS)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def acceptance(target: HybridTarget, **params: Any) -> float:
    done = loop_of(target, spec("component", params, length=3), StopRules(30)).run(prompts(3), 2)
    return sum(s.verified for s in done) / sum(s.drafted for s in done)


def without_output(family: str) -> HybridTarget:
    """A hybrid whose attention says nothing anyway."""
    model = hybrid_model(family)
    with torch.no_grad():
        for layer in model.model.layers:
            if hasattr(layer, "self_attn"):
                layer.self_attn.o_proj.weight.zero_()
    return HybridTarget(model, slots=2, context=256, eos=frozenset())


def test_attention_that_says_nothing_is_not_missed(family: str) -> None:
    """Catches a draft that loses more than attention, or whose states are not the target's: every draft must be kept, whatever is left out."""
    assert acceptance(without_output(family)) == 1.0


def test_nothing_left_out_is_the_target_itself(family: str) -> None:
    """Catches a draft pass that is not the target's own; and such an acceptance is forced, so that it is not measured."""
    target = hybrid(family)
    assert acceptance(target, kept=len(target.attentions)) == 1.0
    whole = loop_of(target, spec("component", {"kept": 9}), StopRules(9)).drafter
    assert "leaves none of 2 attentions out" in str(whole.forced())
    assert loop_of(target, spec("component", {"kept": 1}), StopRules(9)).drafter.forced() is None


def test_attention_left_out_is_missed(family: str) -> None:
    """Catches attention that runs in the draft after all: then everything would be kept."""
    assert acceptance(hybrid(family)) < 0.9


def test_kept_attention_leaves_the_text_alone(family: str) -> None:
    """Catches keys that attention kept in the draft leaves behind where the target reads."""
    plain = by_prompt(plain_loop(hybrid(family), StopRules(30)).run(prompts(3), 2))
    drafted = by_prompt(loop_of(hybrid(family), spec("component", {"kept": 1}, length=3), StopRules(30)).run(prompts(3), 2))
    assert {name: s.output for name, s in drafted.items()} == {name: s.output for name, s in plain.items()}
    assert sum(s.verified for s in drafted.values()) < sum(s.drafted for s in drafted.values())


def test_exit_at_the_last_layer_accepts_everything(family: str) -> None:
    """Catches an early exit whose states are not the target's: with no layer skipped every draft must be kept."""
    target = hybrid(family)
    done = loop_of(target, spec("layerskip", {"exit_layer": target.layers}, length=3), StopRules(30)).run(prompts(3), 2)
    assert all(s.verified == s.drafted > 0 for s in done)


def test_a_draft_reads_and_writes_no_keys(family: str) -> None:
    """Catches a draft that costs attention, or leaves something in the cache."""
    target = hybrid(family, slots=1)
    target.prefill(0, IDS[:-1])
    before = [each.clone() for each in (*target.cache.keys, *target.cache.values)]

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("attention ran")

    for number in target.attentions:
        target.stack.layers[number].self_attn.forward = refuse
    drafter = loop_of(target, spec("component"), StopRules(9)).drafter
    assert drafter.propose(Batch((0,), (IDS,)), [3]).lengths == (3,)
    assert all(torch.equal(a, b) for a, b in zip(before, (*target.cache.keys, *target.cache.values), strict=True))


def test_the_first_attentions_are_those_kept(family: str) -> None:
    """Catches `kept` counted from the other end, or over layers that have no attention."""
    target = hybrid(family)
    drafter = loop_of(target, spec("component", {"kept": 1}), StopRules(9)).drafter
    assert isinstance(drafter, ComponentDrafter)
    assert drafter.left_out == {target.attentions[1]}


@pytest.mark.parametrize("name", [name for name, found in drafters().items() if found.opens or found.trees or found.slices])
def test_drafters_that_do_not_work_over_states_are_refused(name: str) -> None:
    """Catches a drafter that would skip, branch or cut what a recurrent state cannot."""
    with pytest.raises(UnfitDrafter, match="recurrent state"):
        loop_of(hybrid("qwen3_5"), spec(name), StopRules(9))


@pytest.mark.parametrize("name", ["toy", "llama"])
def test_models_without_other_mixers_are_refused(name: str) -> None:
    """Catches a draft of a model that says nothing at all without its attention."""
    with pytest.raises(UnfitDrafter, match="no other mixer"):
        loop_of(tiny(name), spec("component"), StopRules(9))


def test_a_text_is_scored_without_attention(family: str) -> None:
    """Catches an ablation that is not what the drafter drafts with: its score is that of a model whose attention says nothing."""
    target = hybrid(family)
    expected = logits(without_output(family), IDS, LastLayers(0))
    assert (logits(target, IDS, Component()) - expected).abs().max() < 1e-4
    full = logits(target, IDS, LastLayers(0))
    with torch.inference_mode():
        assert (full - target.model(torch.tensor([IDS])).logits[0]).abs().max() < 1e-4
    assert (logits(target, IDS, LastLayers(1)) - full).abs().max() > 0.1
    with pytest.raises(UnfitAblation, match="cannot be left out"):
        logits(target, IDS, LastLayers(target.layers))
