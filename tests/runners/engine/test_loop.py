"""The loop, its stop rules and its counting."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from runners.engine.dice import Chance
from runners.engine.draft import Accepted, Batch, Draft
from runners.engine.loop import Loop
from runners.engine.stops import StopRules
from runners.verifiers.base import NoParams, Verifier
from runners.verifiers.exact import Exact
from tests.models import loop_of, plain_loop, prompts, spec, tiny


class KeepsOneTooMany(Verifier):
    """A broken rule: the first rejected draft is kept as well."""

    name = "broken"
    summary = "broken on purpose"
    lossless = False

    def verify(self, batch: Batch, draft: Draft, logits: torch.Tensor, chance: Chance) -> Accepted:
        true = Exact(NoParams()).verify(batch, draft, logits, chance)
        return Accepted([min(k + 1, n) for k, n in zip(true.kept, draft.lengths, strict=True)], true.next)


def test_a_broken_rule_is_seen_by_the_equality_test() -> None:
    """Negative control: if this passed with a broken verifier, equality with plain would prove nothing."""
    loop = loop_of(tiny("llama"), spec("layerskip", {"exit_layer": 2}), StopRules(40))
    broken = Loop(loop.target, loop.drafter, loop.controller, KeepsOneTooMany(NoParams()), loop.rules, loop.clock)
    plain = plain_loop(tiny("llama"), StopRules(40)).run(prompts(1), 1)[0]
    assert broken.run(prompts(1), 1)[0].output != plain.output


def test_drafts_are_capped_at_the_limit_and_the_last_step_carries_none() -> None:
    """Catches drafts that run past the token limit where the loop must cap them."""
    sequence = loop_of(tiny("llama"), spec("layerskip", {"exit_layer": 6}, length=4), StopRules(12)).run(prompts(1), 1)[0]
    # 1 from the prefill, two full rounds of 5, and one token left: nothing may be drafted for it.
    assert (sequence.round_drafted, sequence.undrafted, sequence.emitted, sequence.discarded_bonus) == ([4, 4], 1, 12, 0)


def test_times_never_run_backwards_and_slots_are_counted() -> None:
    """Catches a clock read before the step, and a slot count that includes finished slots."""
    loop = loop_of(tiny("llama", slots=2), spec("ngram", {}), StopRules(20))
    done = loop.run(prompts(3), 2)
    for sequence in done:
        assert sequence.sent_at <= sequence.step_end[0]
        assert sequence.step_end == sorted(sequence.step_end)
        assert set(sequence.round_slots) <= {1, 2}
    assert loop.counters.slot_steps == sum(s.rounds + s.undrafted for s in done)


def test_a_cancelled_run_returns_what_is_finished() -> None:
    """Catches a cancel that is only seen after the last request."""
    asked = iter([False] * 30 + [True] * 1000)
    done = plain_loop(tiny("llama"), StopRules(20)).run(prompts(3), 1, cancelled=lambda: next(asked))
    assert len(done) == 1


IDS = st.integers(0, 9)


@given(st.lists(IDS, max_size=12), st.lists(IDS, min_size=1, max_size=6), st.integers(1, 20), st.sets(IDS, max_size=3))
def test_cut_delivers_a_prefix_and_ends_where_it_says(output: list[int], fresh: list[int], limit: int, eos: set[int]) -> None:
    """Catches lost, doubled or reordered tokens at any ending."""
    rules = StopRules(limit, frozenset(eos))
    delivered, finish = rules.cut(output, fresh)
    assert delivered == fresh[: len(delivered)]
    assert delivered
    assert not set(delivered[:-1]) & eos
    if finish == "eos":
        assert delivered[-1] in eos
    elif finish == "length":
        assert len(output) + len(delivered) >= limit
    else:
        assert delivered == fresh


def test_stop_string_over_two_steps_is_found() -> None:
    """Catches a stop string of which one half was delivered a step earlier."""
    rules = StopRules(50, strings=("world",), decode=lambda ids: "".join("hello world"[i] for i in ids))
    assert rules.cut([6, 7, 8], [9, 10, 0]) == ([9, 10], "stop")
