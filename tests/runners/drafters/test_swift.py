"""SWIFT: what is searched, what it is judged by, and what stays as it was."""

from typing import Any

import pytest
import torch

from runners.drafters.base import UnfitDrafter
from runners.drafters.swift import Swift, SwiftParams
from runners.engine.draft import Batch
from runners.engine.stops import StopRules
from runners.parts import UnknownPart, choose
from tests.models import ToyTarget, loop_of, plain_loop, prompts, spec, tiny
from tests.runners.engine.test_blocks import held

LIMIT = 60


def without(target: Any, blocks: frozenset[int]) -> None:
    """Makes blocks add nothing to the stream, so that leaving them out changes nothing."""
    for block in blocks:
        layer = target.stack.layers[block // 2]
        (layer.mlp.down_proj if block % 2 else layer.self_attn.o_proj).weight.data.zero_()


def test_it_finds_the_blocks_that_do_nothing() -> None:
    """Catches a search that judges by anything but what the target said, that never moves, or that loses the best set again: of 8 inner blocks the
    two that do nothing are 1 set of 28, and leaving them out keeps every draft."""
    target: Any = tiny("llama", slots=1)
    idle = frozenset({4, 7})
    without(target, idle)
    loop = loop_of(target, spec("swift", {"ratio": 0.25, "window": 8, "tries": 400, "patience": 400, "enough": 1.0}, length=1), StopRules(2 * LIMIT))
    sequence = loop.run(prompts(1), 1)[0]
    drafter: Any = loop.drafter
    found = drafter.searches[0]
    assert drafter.size == 2
    assert found.best == idle
    assert found.share == 1.0 == max(found.shares)
    assert found.shares[0] < 1.0, "it was found and not given"
    assert sequence.round_verified[-20:] == sequence.round_drafted[-20:]


def test_a_share_is_what_drafting_one_token_each_would_keep() -> None:
    """Catches windows that are off by one, and tokens tried behind other keys than the target's own: drafted one by one behind the same text, the set
    is right as often as the search says."""
    request, size = prompts(3)[2], 12
    text = [*request.ids, *plain_loop(tiny("llama"), StopRules(30)).run([request], 1)[0].output]
    target: Any = tiny("llama")
    drafter = Swift(SwiftParams(window=size, ratio=0.7), target)
    drafter.begin(0, request.ids)
    target.prefill(0, text[:-1])
    skips = drafter.searches[0].best
    before = held(target)
    share = drafter._agreement(0, text, skips)
    assert torch.equal(held(target), before)
    right = 0
    for end in range(len(text) - size, len(text)):
        fresh: Any = tiny("llama")
        fresh.prefill(0, text[: end - 1])
        logits = fresh.skipping(Batch((0,), (text[:end],)), torch.tensor([text[end - 1]]), 0, [skips])
        right += int(logits.argmax()) == text[end]
    assert share == pytest.approx(right / size)
    assert 0 < share < 1, "a share at its end hides what is wrong"


def test_first_and_last_layer_always_run_and_sets_keep_their_size() -> None:
    """Catches a set that grows or shrinks on the way, or reaches the layers that the method keeps."""
    drafter = Swift(SwiftParams(ratio=0.45), tiny("llama"))
    drafter.begin(0, [1, 2, 3])
    search = drafter.searches[0]
    assert (drafter.size, len(search.best)) == (3, 3)
    seen = set()
    for search.tried in range(1, 200):
        tried = drafter._another(search)
        assert len(tried) == 3
        assert min(tried) >= 2
        assert max(tried) <= 9
        seen |= tried
    assert seen == set(range(2, 10))


def test_tries_end_where_they_are_told_to() -> None:
    """Catches a search that never ends: by number, by patience, and by a share that is good enough."""
    for params, expected in (({"tries": 3}, 3), ({"tries": 0}, 0), ({"enough": 0.0}, 0)):
        loop = loop_of(tiny("llama"), spec("swift", {"window": 4, "patience": 500, **params}), StopRules(LIMIT))
        loop.run(prompts(1), 1)
        drafter: Any = loop.drafter
        assert drafter.searches[0].tried == expected
    loop = loop_of(tiny("llama"), spec("swift", {"window": 4, "patience": 2, "enough": 1.0}), StopRules(LIMIT))
    loop.run(prompts(1), 1)
    drafter = loop.drafter
    assert drafter.searches[0].in_vain == 2


def test_the_work_of_the_search_is_counted() -> None:
    """Catches a search that is free on paper: every position that it runs is a layer pass of the draft."""
    counted = []
    for tries in (0, 5):
        loop = loop_of(tiny("llama"), spec("swift", {"window": 4, "tries": tries, "ratio": 0.45, "enough": 1.0}, length=2), StopRules(20))
        sequence = loop.run(prompts(1), 1)[0]
        counted.append(sequence.passes.halves - sequence.drafted * (12 - 3))
    assert counted == [0, 5 * 4 * (12 - 3)]


def test_what_it_cannot_do_is_refused() -> None:
    """Catches a drafter without blocks to leave out, and a run whose acceptance says nothing."""
    with pytest.raises(UnfitDrafter, match="looks between the layers"):
        Swift(SwiftParams(), ToyTarget())
    with pytest.raises(UnfitDrafter, match="leaves out no block"):
        Swift(SwiftParams(ratio=0.05), tiny("llama"))
    with pytest.raises(UnknownPart, match="leave compile out"):
        choose(spec("swift", rule={"compile": True}))
    assert "own token" in (Swift(SwiftParams(ratio=0), tiny("llama")).forced() or "")
