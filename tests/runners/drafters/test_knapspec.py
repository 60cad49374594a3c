"""KnapSpec: its sets against all sets, what a dearer block changes, and what it reads its choice from."""

from itertools import combinations
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from runners.drafters.base import UnfitDrafter
from runners.drafters.knapspec import Choice, Costs, Knapspec, KnapspecParams
from runners.engine.blocks import States
from runners.engine.draft import Batch, Draft
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget
from tests.models import SIZES, loop_of, plain_loop, prompts, spec, tiny
from tests.runners.drafters.test_swift import without
from tests.runners.engine.test_blocks import held

LIMIT, END, WINDOW = 40, 20, 12
NOTHING: frozenset[int] = frozenset()


def small(seed: int, layers: int = 4) -> tuple[TransformersTarget, torch.Tensor]:
    """A random target with a text in its first slot, and the states of that text's last tokens."""
    torch.manual_seed(seed)
    model = LlamaForCausalLM(LlamaConfig(**SIZES | {"num_hidden_layers": layers})).eval()
    target = TransformersTarget(model, slots=1, context=128, eos=frozenset())
    text, states = [*prompts(4)[seed % 4].ids, *range(END)][:END], States(1, halves=True)
    head = text[: END - WINDOW + 1]
    batch = Batch((0,), (head,))
    target.prefill(0, head[:-1])
    states.begin(batch)
    target.verify(batch, Draft.chain(torch.tensor([text[len(head) :]]), (WINDOW - 1,), watch=states))
    return target, states.of(0, 0, WINDOW)


def without_set(target: Any, states: torch.Tensor, skips: frozenset[int], upto: int) -> torch.Tensor:
    """The states behind block `upto` − 1 with a set of blocks left out, run from the bottom by itself."""
    positions = torch.arange(END - WINDOW, END)
    way = target.beside(0, positions, torch.full((WINDOW,), END - WINDOW), torch.ones(WINDOW, WINDOW).tril().bool())
    hidden = states[0]
    for block in range(upto):
        hidden = hidden if block in skips else target.block(block, hidden, way)
    return hidden


def near(states: torch.Tensor, own: torch.Tensor) -> float:
    return torch.cosine_similarity(states, own, dim=-1).mean().item()


def agreement(target: Any, hidden: torch.Tensor, own: torch.Tensor) -> float:
    return (target.head(hidden).argmax(-1) == target.head(own).argmax(-1)).float().mean().item()


@pytest.mark.parametrize("attention", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_on_four_layers_it_equals_brute_force(seed: int, attention: float) -> None:
    """Catches a set that is not the nearest of its weight, states that saw another set's, an outer layer left out, a budget that is not kept, and a
    choice that is not the one with most tokens per cost. Keeping one set per weight is greedy: on these targets it loses none, on others it may."""
    target, states = small(seed)
    drafter = Knapspec(KnapspecParams(attention=attention, least=-1), target)
    costs, before = drafter.costs(END), held(target)
    weights, sets = costs.weights, [frozenset(each) for size in range(1, 5) for each in combinations(range(2, 6), size)]
    by_weight: dict[int, list[frozenset[int]]] = {}
    for skips in sets:
        by_weight.setdefault(sum(weights[block % 2] for block in skips), []).append(skips)
    allowed = {weight: found for weight, found in by_weight.items() if weight <= sum(weights) * 2}
    nearest = {weight: max(found, key=lambda each: near(without_set(target, states, each, 6), states[6])) for weight, found in allowed.items()}
    found = drafter.sets(0, states, END, costs)
    assert [skips for skips, _ in found] == [nearest[weight] for weight in sorted(nearest)]
    for skips, hidden in found:
        assert torch.allclose(hidden, without_set(target, states, skips, 8), atol=1e-5)

    whole = 4 * attention + 4
    ways = [(1 / whole, NOTHING, 0)]
    for skips in nearest.values():
        share = agreement(target, without_set(target, states, skips, 8), states[-1])
        cost = sum(1.0 if block % 2 else attention for block in range(8) if block not in skips)
        ways += [(sum(share**i for i in range(length + 1)) / (length * cost + whole), skips, length) for length in range(1, 18)]
    chosen = drafter.choose(0, states, END)
    assert chosen.worth == pytest.approx(max(worth for worth, _, _ in ways))
    assert any((chosen.skips, chosen.length) == (skips, length) and worth == pytest.approx(chosen.worth) for worth, skips, length in ways)
    assert torch.equal(held(target), before), "a choice writes nothing"


def test_dearer_attention_makes_it_leave_out_more_attention() -> None:
    """Catches costs that are turned around or not used."""
    found = {}
    for attention in (0.2, 1.0, 5.0):
        chosen = [Knapspec(KnapspecParams(attention=attention), (made := small(seed, layers=6))[0]).choose(0, made[1], END) for seed in range(6)]
        found[attention] = sum(block % 2 == 0 for choice in chosen for block in choice.skips)
    assert found[0.2] < found[1.0] < found[5.0]


def test_blocks_that_do_nothing_are_left_out_and_the_draft_is_long() -> None:
    """Catches a length that does not follow acceptance: without the blocks that do nothing all tokens agree, and the longest draft is worth most."""
    idle = frozenset({4, 5, 7})
    target: Any = tiny("llama", slots=1)
    without(target, idle)
    loop = loop_of(target, spec("knapspec", {"window": 8, "every": 4, "attention": 1.0, "least": 0.9}, length=4), StopRules(LIMIT))
    sequence = loop.run(prompts(1), 1)[0]
    drafter: Any = loop.drafter
    choice = drafter.slots[0].choice
    assert idle <= choice.skips
    assert choice.length == 17
    assert sequence.round_verified[-3:] == sequence.round_drafted[-3:]


def test_a_set_that_is_not_similar_enough_is_dropped() -> None:
    """Catches a threshold that is not kept: at 1 nothing is left out and nothing drafted, until the next choice finds the same."""
    target, states = small(0)
    drafter = Knapspec(KnapspecParams(attention=1.0, least=1.0), target)
    chosen = drafter.choose(0, states, END)
    assert (chosen.skips, chosen.length) == (NOTHING, 0)
    loop = loop_of(tiny("llama", slots=1), spec("knapspec", {"window": 4, "every": 3, "least": 1.0, "attention": 1.0}), StopRules(LIMIT))
    sequence = loop.run(prompts(1), 1)[0]
    assert sequence.rounds <= 4
    assert sequence.undrafted >= LIMIT - 16


def test_it_looks_at_the_latest_tokens_that_were_kept() -> None:
    """Catches states of rejected drafts, a gap between rounds, and positions that have moved: what is held equals a full pass over the text."""
    loop = loop_of(tiny("qwen3", slots=1), spec("knapspec", {"window": 10, "every": 3, "attention": 1.0}), StopRules(LIMIT))
    request = prompts(1)[0]
    sequence = loop.run([request], 1)[0]
    drafter: Any = loop.drafter
    own = drafter.slots[0]
    assert sequence.verified < sequence.drafted
    start, text = own.end - 10, sequence.ids
    fresh: Any = tiny("qwen3", slots=1)
    fresh.prefill(0, text[:start])
    states, batch = States(1, halves=True), Batch((0,), (text[: start + 1],))
    states.begin(batch)
    fresh.verify(batch, Draft.chain(torch.tensor([text[start + 1 : own.end]]), (9,), watch=states))
    assert torch.allclose(own.held, states.of(0, 0, 10), atol=1e-3)


def test_costs_are_this_devices_where_none_is_given() -> None:
    """Catches a measured cost that is not used, and attention that does not follow the length of the text."""
    target: Any = tiny("llama")
    drafter = Knapspec(KnapspecParams(), target)
    measured = target.block_costs()
    assert drafter.costs(30) == Costs(measured.attention + 30 * measured.per_entry, measured.mlp)
    assert Knapspec(KnapspecParams(attention=3.0), target).costs(30) == Costs(3.0, 1.0)
    assert Costs(2.6, 1.0).weights == (3, 1)
    assert Costs(1.0, 9.0).weights == (1, 5)
    assert Costs(1.2, 1.0).weights == (1, 1)
    assert Costs(2.0, 1.0).of(8, frozenset({2, 3, 5})) == 3 * 2.0 + 2 * 1.0


class Eager(Knapspec):
    """Broken: commits to what the blocks that are left say of the last token, instead of waiting for the verification."""

    def observe(self, batch: Batch, kept: Any) -> None:
        super().observe(batch, kept)
        logits = self.target.skipping(batch, torch.tensor([ids[-1] for ids in batch.ids]), 0, [self.slots[slot].choice.skips for slot in batch.slots])
        assert torch.isfinite(logits).all()


def test_a_draft_pass_behind_the_verification_would_be_seen() -> None:
    """Negative control of what a draft writes: behind a verification it would leave its own keys in the text, and plain decoding says otherwise."""
    outputs = []
    for kind in (Knapspec, Eager):
        target = tiny("llama", slots=1)
        loop = loop_of(target, spec("knapspec"), StopRules(LIMIT))
        loop.drafter = kind(KnapspecParams(attention=1.0, window=4), target)
        loop.drafter.choose = lambda *_: Choice(frozenset({2, 5, 7}), 4, 0.5, 1.0)  # type: ignore[attr-defined]
        outputs.append([s.output for s in loop.run(prompts(3), 1)])
    plain = [s.output for s in plain_loop(tiny("llama"), StopRules(LIMIT)).run(prompts(3), 1)]
    assert outputs[0] == plain != outputs[1]


def test_a_target_without_inner_layers_is_refused() -> None:
    with pytest.raises(UnfitDrafter, match="none between"):
        Knapspec(KnapspecParams(), small(0, layers=2)[0])
