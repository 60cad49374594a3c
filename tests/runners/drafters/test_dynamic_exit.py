"""DEL: exits are judged by what the target said, and exit and length by what they cost."""

from typing import Any

import pytest
import torch

from runners.drafters.base import UnfitDrafter
from runners.drafters.dynamic_exit import DelParams, DynamicExit, choose
from runners.engine.draft import Batch, Draft
from runners.engine.stops import StopRules
from tests.models import loop_of, plain_loop, prompts, spec, tiny
from tests.runners.drafters.test_swift import without
from tests.runners.engine.test_transformers_target import executions

LIMIT = 40
LAYERS = 6


@pytest.mark.parametrize("deep", [1, 3, 5])
def test_where_later_layers_do_nothing_it_leaves_before_them(deep: int) -> None:
    """Catches an exit that is off by one, that never moves, or is chosen by agreement alone: all from `deep` on agree, the first is cheapest."""
    target: Any = tiny("llama", slots=1)
    without(target, frozenset(range(2 * deep, 2 * LAYERS)))
    loop = loop_of(target, spec("del", {"stride": 1}), StopRules(LIMIT))
    sequence = loop.run(prompts(1), 1)[0]
    drafter: Any = loop.drafter
    record = drafter.records[0]
    assert record.exit_layer == deep
    assert record.agreed[deep - 1] == pytest.approx(record.judged)
    assert sequence.round_verified[-3:] == sequence.round_drafted[-3:] == [4, 4, sequence.round_drafted[-1]]


def test_the_choice_is_that_of_every_way_counted_out() -> None:
    """Catches an expectation that counts a rejected token's followers, and a cost that forgets the verification."""
    assert choose([2, 4], [0.0, 0.0], 6, 8) == (2, 0)
    assert choose([2, 4], [1.0, 1.0], 6, 8) == (2, 8)
    assert choose([1, 5], [0.2, 1.0], 6, 8)[0] == 5
    # 1 + 0.5 for 6 + 2 layers beats 1 for 6 and 1 + 0.5 + 0.25 for 6 + 4.
    assert choose([2], [0.5], 6, 8) == (2, 1)
    assert choose([2], [1 / 3], 6, 8) == (2, 0)
    # 1 + 0.9 + 0.81 for 10 layers; a third one, 3.439 for 12, is better still.
    assert choose([2], [0.9], 6, 2) == (2, 2)
    assert choose([2], [0.9], 6, 3) == (2, 3)


def test_what_is_judged_is_what_the_exits_would_have_said() -> None:
    """Catches states of a rejected draft, of another depth, or of layers that a resumed verification did not run: each round's counts equal those of
    early passes over the text itself."""
    target: Any = tiny("qwen3", slots=1)
    loop = loop_of(target, spec("del", {"stride": 1, "decay": 1.0}, length=3), StopRules(LIMIT))
    request = prompts(1)[0]
    sequence = loop.run([request], 1)[0]
    drafter: Any = loop.drafter
    record, text = drafter.records[0], sequence.ids
    judged = int(record.judged)
    assert 20 < judged <= LIMIT
    agreed = [0] * len(drafter.exits)
    for end in range(len(request.ids) + 1, len(request.ids) + 1 + judged):
        fresh: Any = tiny("qwen3", slots=1)
        fresh.prefill(0, text[: end - 1])
        batch, last = Batch((0,), (text[:end],)), torch.tensor([text[end - 1]])
        own = fresh.verify(batch, Draft.empty(1, fresh.device))[0, 0].argmax()
        for at, exit_layer in enumerate(drafter.exits):
            agreed[at] += int(fresh.early(batch, last, 0, exit_layer)[0][0].argmax() == own)
    assert record.agreed == agreed
    assert len(set(agreed)) > 2, "exits that all agree alike hide what is wrong"


def test_no_layer_runs_a_position_twice() -> None:
    """Catches a draft pass whose work is thrown away while all rows leave at one exit."""
    target: Any = tiny("llama", slots=1)
    without(target, frozenset(range(6, 2 * LAYERS)))
    seen, hooks = executions(target.stack.layers)
    sequence = loop_of(target, spec("del", {"stride": 3}), StopRules(30)).run(prompts(1), 1)[0]
    for hook in hooks:
        hook.remove()
    assert sequence.drafted > 0
    expected = len(sequence.request.ids) + sequence.drafted + sequence.rounds + sequence.undrafted - (1 - sequence.prefill_tokens)
    assert set(seen.values()) == {expected}
    assert sum(seen.values()) == sequence.passes.prefill + sequence.passes.drafted + sequence.passes.verify


def test_rows_that_leave_at_different_exits_say_what_plain_says() -> None:
    """Catches a verification that goes on from one row's exit for another row."""
    target: Any = tiny("llama")
    loop = loop_of(target, spec("del", {"stride": 1}), StopRules(LIMIT))
    drafter: Any = loop.drafter
    mixed, draft_of = [], drafter.propose

    def forced(batch: Batch, limits: Any, more: Any = None) -> Draft:
        for slot in batch.slots:
            drafter.records[slot].exit_layer = 1 + slot
        draft: Draft = draft_of(batch, limits, more)
        mixed.append(draft.resume is None and draft.width > 0)
        return draft

    drafter._turn = lambda slot, limit: limit
    drafter.propose = forced
    drafted = {s.request.prompt: s.output for s in loop.run(prompts(3), 3)}
    plain = {s.request.prompt: s.output for s in plain_loop(tiny("llama"), StopRules(LIMIT)).run(prompts(3), 1)}
    assert any(mixed)
    assert drafted == plain


class Turned(DynamicExit):
    """Broken: verifies from the deepest row's exit, whatever exit the others left at."""

    def propose(self, batch: Batch, limits: Any, more: Any = None) -> Draft:
        draft = super().propose(batch, limits, more)
        return Draft.chain(
            draft.tokens, draft.lengths, resume=draft.resume and type(draft.resume)(LAYERS - 1, draft.resume.hidden), watch=draft.watch
        )


def test_a_verification_from_the_wrong_exit_would_be_seen() -> None:
    """Negative control of losslessness."""
    target = tiny("llama")
    plain = plain_loop(tiny("llama"), StopRules(LIMIT)).run(prompts(2), 1)
    loop = loop_of(target, spec("del"), StopRules(LIMIT))
    loop.drafter = Turned(DelParams(stride=2), target)
    assert [s.output for s in loop.run(prompts(2), 1)] != [s.output for s in plain]


def test_a_stride_without_an_exit_is_refused() -> None:
    with pytest.raises(UnfitDrafter, match="leaves no exit"):
        DynamicExit(DelParams(stride=LAYERS), tiny("llama"))
