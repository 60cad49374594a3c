"""Blocks of a target: halves are the layer, what is left out is not run, and what is run beside the text leaves no trace."""

from typing import Any

import pytest
import torch

from runners.engine.blocks import Aside, States
from runners.engine.draft import Batch, Draft
from tests.models import FAMILIES, WINDOW, tiny
from tests.runners.engine.test_transformers_target import executions

TEXTS = [[(11 * i + 5) % 90 for i in range(2 * WINDOW + 5)], [(7 * i) % 90 for i in range(9)]]
ROWS = Batch((0, 1), tuple(TEXTS))
NOTHING: frozenset[int] = frozenset()


def filled(family: str) -> Any:
    target = tiny(family)
    for slot, text in enumerate(TEXTS):
        target.prefill(slot, text[:-1])
    return target


def last(texts: list[list[int]]) -> torch.Tensor:
    return torch.tensor([text[-1] for text in texts])


def held(target: Any) -> torch.Tensor:
    return torch.stack([*target.cache.keys, *target.cache.values]).clone()


@pytest.mark.parametrize("family", FAMILIES)
def test_with_nothing_left_out_a_step_is_the_targets_own(family: str) -> None:
    """Catches a half that misses a norm or a residual of its family, past the window and in a batch."""
    target = filled(family)
    found = target.skipping(ROWS, last(TEXTS), 0, [NOTHING] * 2)
    own = target.verify(ROWS, Draft.empty(2, target.device))[:, 0]
    assert torch.equal(found, own)


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_rows_leave_out_blocks_of_their_own(family: str) -> None:
    """Catches a row that runs its neighbour's blocks, and keys that it wrote in its neighbour's slot."""
    skips = [frozenset({2, 5, 8, 9}), frozenset({3, 4, 5})]
    target = filled(family)
    steps = [target.skipping(ROWS, torch.tensor([5 + depth, 60]), depth, skips) for depth in range(3)]
    for row in range(2):
        alone, only = filled(family), ROWS.rows([row])
        for depth, step in enumerate(steps):
            found = alone.skipping(only, torch.tensor([(5 + depth, 60)[row]]), depth, [skips[row]])
            assert torch.allclose(found[0], step[row], atol=1e-4)
    assert (steps[0][0] - target.skipping(ROWS, torch.tensor([5, 60]), 0, [NOTHING] * 2)[0]).abs().max() > 0.1


def test_what_is_left_out_is_not_run() -> None:
    """Catches work that is done and thrown away, and halves of layers that are counted otherwise than hooks count them."""
    target, skips = filled("llama"), [frozenset({2, 5, 8, 9}), frozenset({3, 9})]
    attention, first = executions([layer.input_layernorm for layer in target.stack.layers])
    mlp, second = executions([layer.post_attention_layernorm for layer in target.stack.layers])
    target.skipping(ROWS, last(TEXTS), 0, skips)
    for hook in first + second:
        hook.remove()
    assert attention == {layer: sum(2 * layer not in each for each in skips) for layer in range(target.layers)}
    assert mlp == {layer: sum(2 * layer + 1 not in each for each in skips) for layer in range(target.layers)}
    assert [target.passes[row].halves for row in range(2)] == [8, 10]
    assert [target.passes[row].drafted for row in range(2)] == [4, 5]


@pytest.mark.parametrize("family", FAMILIES)
def test_beside_the_text_tokens_see_what_they_are_told(family: str) -> None:
    """Catches masks and angles of tokens run beside a text: run again from any place they give the states that they gave within it."""
    target, text = filled(family), TEXTS[0]
    states = States(target.slots, halves=True)
    states.begin(ROWS)
    target.verify(ROWS, Draft.chain(torch.tensor([[4, 8, 15]] * 2), (3, 3), watch=states))
    before = held(target)
    seen, size = states.of(0, 0, 4), len(text)
    assert seen.shape == (2 * target.layers + 1, 4, 32)
    positions = torch.arange(size - 1, size + 3)
    together = target.beside(0, positions, torch.full((4,), size - 1), torch.ones(4, 4).tril().bool())
    apart = target.beside(0, positions, positions, torch.eye(4).bool())
    for way in (together, apart):
        hidden = target.embed(torch.tensor([text[-1], 4, 8, 15]))
        for number in range(2 * target.layers):
            assert torch.allclose(hidden, seen[number], atol=1e-4), number
            hidden = target.block(number, hidden, way)
        assert torch.allclose(hidden, seen[-1], atol=1e-4)
    assert torch.equal(held(target), before)


def test_a_run_beside_the_text_that_wrote_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control of the test before."""

    def leak(self: Any, keys: torch.Tensor, values: torch.Tensor, layer: int, *_: Any, **__: Any) -> tuple[torch.Tensor, torch.Tensor]:
        self._cache.keys[layer][self._slot, :, self._width] = keys[0, :, 0]
        return kept(self, keys, values, layer)

    kept = Aside.update
    target = filled("llama")
    before = held(target)
    monkeypatch.setattr(Aside, "update", leak)
    way = target.beside(0, torch.tensor([6]), torch.tensor([6]), torch.ones(1, 1).bool())
    target.block(0, target.embed(torch.tensor([9])), way)
    assert not torch.equal(held(target), before)


def test_states_of_whole_layers_are_every_other_one() -> None:
    """Catches a boundary that is off by one: of whole layers the states are those before attention, and the last behind the stack."""
    found = []
    for halves in (True, False):
        target, states = filled("llama"), States(4, halves=halves)
        states.begin(ROWS)
        target.verify(ROWS, Draft.chain(torch.tensor([[4, 8]] * 2), (2, 2), watch=states))
        found.append(states.of(1, 0, 3))
    assert torch.equal(found[0][::2], found[1])


def test_costs_are_measured_and_leave_no_trace() -> None:
    """Catches a measurement that writes into a text under way, and a cost that is not above 0."""
    target = filled("llama")
    before = held(target)
    costs = target.block_costs()
    assert costs.mlp > 0
    assert costs.attention_at(200) >= costs.attention_at(10) > 0
    assert target.block_costs() is costs
    assert torch.equal(held(target), before)
