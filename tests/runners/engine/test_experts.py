"""Experts of a target: what a forward used, and steps that choose others, against the library's own routers."""

from typing import Any

import pytest
import torch
from transformers import DynamicCache

from runners.engine.draft import Batch, Draft
from runners.engine.experts import ROUTING, Steering, among
from runners.engine.stops import StopRules
from tests.models import by_prompt, loop_of, plain_loop, prompts, spec, tiny

SPARSE = ["qwen3_moe", "olmoe"]
TEXTS = [[(5 * i + 2) % 90 for i in range(20)], list(range(3, 29)), [(7 * i) % 90 for i in range(61)]]
DRAFTS = [[9, 4, 60], [1], []]


def held(family: str) -> tuple[Any, Batch]:
    """Three texts in the cache, but for their last tokens."""
    target: Any = tiny(family)
    with target.supplying(frozenset({ROUTING})):
        for slot, text in enumerate(TEXTS):
            target.prefill(slot, text[:-1])
    return target, Batch((0, 1, 2), tuple(list(text) for text in TEXTS))


def chosen_by(target: Any, ids: list[int]) -> torch.Tensor:
    """`[S, n, E]`: the experts that the library's own model sends each token of a text to."""
    taken: list[torch.Tensor] = []
    gates = [layer.mlp.gate for layer in target.model.model.layers if hasattr(layer.mlp, "experts")]
    hooks = [gate.register_forward_hook(lambda _, __, found: taken.append(found[2])) for gate in gates]
    with torch.inference_mode():
        target.model(torch.tensor([ids]))
    for hook in hooks:
        hook.remove()
    return among(torch.stack(taken), target.experts.count)


@pytest.mark.parametrize("family", SPARSE)
def test_what_was_used_is_what_the_library_would_use(family: str) -> None:
    """Catches experts of padding, of another row or layer, a whole prompt in place of its last token, and counts that include plain steps."""
    target, batch = held(family)
    for row, text in enumerate(TEXTS):
        assert torch.equal(target.routed(batch)[:, row], chosen_by(target, text[:-1])[:, -1])
    with target.supplying(frozenset({ROUTING})):
        target.verify(batch, Draft.from_lists(DRAFTS, target.device))
    for row, (text, draft) in enumerate(zip(TEXTS, DRAFTS, strict=True)):
        used = chosen_by(target, text + draft)[:, len(text) - 1 :].any(dim=1)
        assert torch.equal(target.routed(batch)[:, row], used)
        whole = target.experts.layers * target.experts.chosen * (len(draft) + 1)
        wanted = (int(used.sum()), whole) if draft else (0, 0)
        assert (target.passes[row].experts_read, target.passes[row].experts_chosen) == wanted
    assert 0 < target.passes[0].experts_read < target.passes[0].experts_chosen


@pytest.mark.parametrize("family", SPARSE)
@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_fewer_experts_without_a_bonus_are_the_librarys_own_top(family: str, most: int) -> None:
    """Catches weights that are mixed otherwise: the library's model, told to take fewer experts for the last token, says the same."""
    target, batch = held(family)
    none = torch.zeros((target.experts.layers, 3, target.experts.count), dtype=torch.bool)
    steering = Steering(most, 0.0, none)
    found = target.steered(batch, torch.tensor([text[-1] for text in TEXTS]), 0, steering)
    gates = [layer.mlp.gate for layer in target.model.model.layers if hasattr(layer.mlp, "experts")]
    for row, text in enumerate(TEXTS):
        with torch.inference_mode():
            cache = DynamicCache(config=target.model.config)
            target.model(torch.tensor([text[:-1]]), cache=cache)
            for gate in gates:
                gate.top_k = most
            wanted = target.model(torch.tensor([text[-1:]]), cache=cache).logits[0, -1]
        for gate in gates:
            gate.top_k = target.experts.chosen
        assert (found[row] - wanted).abs().max() < 1e-4
    assert steering.used.sum() == most * target.experts.layers * 3
    assert bool((steering.wanted | ~steering.used).all())


def test_a_bonus_pulls_and_does_not_mix() -> None:
    """Catches a bonus that reaches the weights, or that is given to the wrong ones: by hand, for both ways of mixing."""
    logits = torch.tensor([[2.0, 1.0, 0.5, 0.0]])
    own = logits.softmax(dim=-1)[0]
    for bonus, picked in ((0.0, [0, 1]), (1.2, [0, 3]), (9.0, [3, 0])):
        for whole in (True, False):
            steering = Steering(2, bonus, torch.tensor([[[False, False, False, True]]]))
            weights, chosen = steering.route(logits, own[None, :3], torch.tensor([[0, 1, 2]]), whole=whole)
            assert chosen.tolist() == [picked]
            assert torch.allclose(weights[0], own[picked] / (own[picked].sum() if whole else 1))
            assert steering.wanted.tolist() == [[[True, True, True, False]]]


@pytest.mark.parametrize("family", SPARSE)
def test_a_great_bonus_keeps_to_what_is_held(family: str) -> None:
    """Catches experts of another layer or row being taken for held."""
    target, batch = held(family)
    torch.manual_seed(5)
    some = among(torch.rand(target.experts.layers, 3, target.experts.count).topk(3).indices, target.experts.count)
    steering = Steering(3, 1e3, some)
    target.steered(batch, torch.tensor([text[-1] for text in TEXTS]), 0, steering)
    assert torch.equal(steering.used, some)


@pytest.mark.parametrize("family", SPARSE)
def test_nothing_is_counted_unasked(family: str) -> None:
    """Catches routers that stay under watch, which other drafters and plain decoding would pay for; and zeros where nothing was counted."""
    target: Any = tiny(family)
    for loop in (plain_loop(target, StopRules(8)), loop_of(target, spec("ngram"), StopRules(8))):
        assert {(s.passes.experts_read, s.passes.experts_chosen) for s in loop.run(prompts(2), 2)} == {(None, None)}
    with pytest.raises(ValueError, match="nobody asked"):
        target.routed(Batch((0,), ([1],)))


@pytest.mark.parametrize("family", SPARSE)
def test_neighbours_change_no_answer(family: str) -> None:
    """Catches experts with a limit that a full batch outgrows, and padding that takes a place: eight texts at once say what each says alone."""
    together = by_prompt(loop_of(tiny(family, slots=8), spec("ngram", length=5), StopRules(40)).run(prompts(8), 8))
    for request in prompts(8):
        assert together[request.prompt].output == plain_loop(tiny(family, slots=1), StopRules(40)).run([request], 1)[0].output
