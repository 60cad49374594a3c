"""CLaSp: the layers that it leaves out, against layers that do nothing, all choices, and its own draft."""

from typing import Any

import pytest
import torch

from runners.drafters.base import UnfitDrafter
from runners.drafters.clasp import Clasp, ClaspParams
from runners.engine.blocks import States
from runners.engine.draft import Batch, Draft, Resume
from runners.engine.stops import StopRules
from tests.models import FAMILIES, loop_of, plain_loop, prompts, spec, tiny
from tests.runners.drafters.test_swift import without
from tests.runners.engine.test_blocks import held

LIMIT = 40
LAYERS = 6


def seen(target: Any, text: list[int]) -> torch.Tensor:
    """The states of the last token of a text, whose others are in the cache."""
    states, batch = States(target.slots, halves=False), Batch((0,), (text,))
    target.prefill(0, text[:-1])
    states.begin(batch)
    target.verify(batch, Draft.chain(torch.zeros((1, 0), dtype=torch.long), (0,), watch=states))
    return states.of(0, 0, 1)[:, 0]


@pytest.mark.parametrize("idle", range(LAYERS))
def test_with_one_layer_an_identity_it_leaves_out_exactly_that_one(idle: int) -> None:
    """Catches a choice that is off by a layer, and one that looks at anything but states: the draft then is the target's own text."""
    target: Any = tiny("llama", slots=1)
    without(target, frozenset({2 * idle, 2 * idle + 1}))
    loop = loop_of(target, spec("clasp", {"skipped": 1, "every": 1}), StopRules(LIMIT))
    sequence = loop.run(prompts(1), 1)[0]
    drafter: Any = loop.drafter
    assert drafter.slots[0].skips == frozenset({2 * idle, 2 * idle + 1})
    assert sequence.round_verified[1:] == sequence.round_drafted[1:]
    assert len(sequence.round_drafted) > 5


def test_two_idle_layers_are_found_among_all_pairs() -> None:
    """Catches a count of layers that is not kept, and a path that is not traced back: no pair of 15 but the idle one gives the full pass's state."""
    for idle in ({0, 1}, {1, 4}, {2, 5}, {4, 5}):
        target: Any = tiny("qwen3", slots=1)
        without(target, frozenset(block for layer in idle for block in (2 * layer, 2 * layer + 1)))
        text = list(prompts(1)[0].ids)
        states = seen(target, text)
        skips, state = Clasp(ClaspParams(skipped=2), target).choose(0, states, len(text) - 1)
        assert {block // 2 for block in skips} == idle
        assert torch.allclose(state, states[-1], atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("skipped", [1, 3, 5])
def test_the_state_of_the_choice_is_the_drafts_own(family: str, skipped: int) -> None:
    """Catches states that saw one another or the wrong keys, and a path other than the state's: a draft step without these layers says the same."""
    target: Any = tiny(family)
    text = list(range(2, 44))
    states = seen(target, text)
    before = held(target)
    skips, state = Clasp(ClaspParams(skipped=skipped), target).choose(0, states, len(text) - 1)
    assert torch.equal(held(target), before), "a choice writes nothing"
    assert len(skips) == 2 * skipped
    step = target.skipping(Batch((0,), (text,)), torch.tensor([text[-1]]), 0, [skips])
    assert torch.allclose(target.head(state), step[0], atol=1e-4)


def by_hand(target: Any, states: torch.Tensor, position: int, skipped: int) -> set[int]:
    """The recursion over sets of layers, each run by itself from the bottom."""

    def run(left_out: set[int], upto: int) -> torch.Tensor:
        way = target.beside(0, torch.tensor([position]), torch.tensor([position]), torch.ones(1, 1).bool())
        state = states[:1]
        for block in range(2 * upto):
            state = state if block // 2 in left_out else target.block(block, state, way)
        return state[0]

    best: dict[int, set[int]] = {0: set()}
    for layer in range(LAYERS):
        found: dict[int, set[int]] = {0: set()}
        for j in range(1, min(skipped, layer + 1) + 1):
            ways = ([best[j]] if j in best else []) + [best[j - 1] | {layer}]
            found[j] = max(ways, key=lambda way: torch.cosine_similarity(run(way, layer + 1), states[layer + 1], dim=0).item())
        best = found
    return best[skipped]


@pytest.mark.parametrize("family", ["llama", "qwen2", "gemma3"])
def test_the_choice_is_that_of_the_recursion_by_hand(family: str) -> None:
    """Catches a comparison that is turned around, against the wrong layer's state, or between states that were mixed up: another set comes out."""
    target: Any = tiny(family)
    chosen = set()
    for request in prompts(3):
        text = list(request.ids)
        states = seen(target, text)
        for skipped in range(1, LAYERS):
            skips, _ = Clasp(ClaspParams(skipped=skipped), target).choose(0, states, len(text) - 1)
            assert {block // 2 for block in skips} == by_hand(target, states, len(text) - 1, skipped)
            chosen.add(skips)
    assert len(chosen) > LAYERS, "it says the same of every text"


def test_states_are_those_of_the_last_accepted_token() -> None:
    """Catches states of a rejected draft or of another row: what is kept for the next choice equals a full pass's over the text to that token."""
    target: Any = tiny("llama")
    loop = loop_of(target, spec("clasp", {"skipped": 1, "every": 1}), StopRules(LIMIT))
    drafter: Any = loop.drafter
    observe, compared = drafter.observe, []

    def noted(batch: Batch, kept: Any) -> None:
        observe(batch, kept)
        for slot, ids, draft, accepted in zip(batch.slots, batch.ids, proposed[-1].tokens.tolist(), kept, strict=True):
            own, text = drafter.slots[slot], [*ids, *draft[:accepted]]
            if own.due:
                assert own.position == len(text) - 1
                assert torch.allclose(own.seen, seen(tiny("llama"), text), atol=1e-3)
                compared.append(accepted)

    proposed: list[Draft] = []
    propose = drafter.propose
    drafter.propose = lambda *given: proposed.append(propose(*given)) or proposed[-1]
    drafter.observe = noted
    loop.run(prompts(3), 3)
    assert len(set(compared)) > 1


def test_a_choice_is_made_as_often_as_asked() -> None:
    """Catches an interval that is not kept, and states that are watched for nothing."""
    for every in (1, 3, 1000):
        loop = loop_of(tiny("llama"), spec("clasp", {"skipped": 2, "every": every}), StopRules(LIMIT))
        made: list[int] = []
        drafter: Any = loop.drafter
        choose = drafter.choose
        drafter.choose = lambda *given, choose=choose, made=made: made.append(1) or choose(*given)
        sequence = loop.run(prompts(1), 1)[0]
        assert len(made) == -(-(sequence.rounds - 1) // every)


class GoesOn(Clasp):
    """Broken: the verification goes on from what the draft left in the last layer's place, as if nothing had been left out."""

    def propose(self, batch: Batch, limits: Any, more: Any = None) -> Draft:
        draft = super().propose(batch, limits, more)
        fed = torch.cat([torch.tensor([[ids[-1]] for ids in batch.ids]), draft.tokens], dim=1)[:, : draft.width]
        resume = Resume(2, self.target.embed(fed)) if draft.width else None
        return Draft.chain(draft.tokens, draft.lengths, resume=resume, watch=draft.watch)


def test_a_verification_over_the_drafts_own_states_would_be_seen() -> None:
    """Negative control of losslessness: the battery's comparison with plain decoding tells such a drafter from the real one."""
    plain = plain_loop(tiny("llama"), StopRules(LIMIT)).run(prompts(2), 1)
    for kind, same in ((Clasp, True), (GoesOn, False)):
        target = tiny("llama")
        loop = loop_of(target, spec("clasp"), StopRules(LIMIT))
        loop.drafter = kind(ClaspParams(skipped=2, every=1), target)
        assert ([s.output for s in loop.run(prompts(2), 1)] == [s.output for s in plain]) is same


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(UnfitDrafter, match="leaves none"):
        Clasp(ClaspParams(skipped=LAYERS), tiny("llama"))
    assert "own token" in (Clasp(ClaspParams(skipped=0), tiny("llama")).forced() or "")
