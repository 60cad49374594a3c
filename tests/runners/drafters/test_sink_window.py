"""Drafts over the first and the latest entries."""

import pytest
from pydantic import ValidationError

from runners.drafters.sink_window import SinkWindow, SinkWindowParams
from runners.engine.draft import Batch
from runners.engine.stops import StopRules
from tests.models import loop_of, prompts, spec, tiny


def test_entries_are_the_first_and_the_latest() -> None:
    """Catches a window that ends before the last entry, or holds the pending token, and a short row that is given a longer one's."""
    drafter = SinkWindow(SinkWindowParams(ratio=0.25, least=6, sinks=2), tiny("llama"))
    entries = drafter.entries(Batch((0, 1), ([1] * 41, [1] * 11)))
    assert entries.shape == (6, 2, 10)
    for layer in entries.tolist():
        assert layer == [[0, 1, *range(32, 40)], [0, 1, 6, 7, 8, 9, -1, -1, -1, -1]]


def test_acceptance_lies_between_none_and_all() -> None:
    """Catches a battery that passes because its drafter is never, or always, right."""
    for family in ("llama", "gemma3"):
        done = loop_of(tiny(family), spec("sink-window"), StopRules(40)).run(prompts(5), 2)
        assert 0 < sum(s.verified for s in done) < sum(s.drafted for s in done)


def test_sinks_leave_room_for_a_window() -> None:
    with pytest.raises(ValidationError, match="fewer than least"):
        SinkWindowParams(sinks=8, least=8)


def test_rows_end_at_their_own_limits() -> None:
    """Catches a row that drafts on over another's slice: together and alone a proposal is the same."""
    target = tiny("gemma3")
    drafter = loop_of(target, spec("sink-window"), StopRules(40)).drafter
    texts = [list(request.ids) for request in prompts(3)]
    for slot, ids in enumerate(texts):
        target.prefill(slot, ids[:-1])
    together = drafter.propose(Batch((0, 1, 2), tuple(texts)), [1, 4, 2])
    assert together.lengths == (1, 4, 2)
    for row, ids in enumerate(texts):
        alone = drafter.propose(Batch((row,), (ids,)), [together.lengths[row]])
        assert alone.tokens[0].tolist() == together.tokens[row, : together.lengths[row]].tolist()
