"""Events out of bytes, wherever these are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.engine.external import sse
from runners.engine.external.faults import EngineFault
from runners.engine.external.sse import Events

STREAM = 'data: {"content":"ё\u2028 "}\r\n\r\n: ping\n\ndata: one\ndata: two\r\revent: x\nid: 7\ndata:[DONE]\n\n'.encode()
EVENTS = ['{"content":"ё\u2028 "}', "one\ntwo", "[DONE]"]


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_are_the_same_wherever_their_bytes_are_cut(cuts: list[int]) -> None:
    """Catches a Cyrillic letter cut into two broken ones, a CR LF taken for two line ends, and a text cut at U+2028."""
    places = [0, *sorted(cuts), len(STREAM)]
    events, found = Events(), []
    for start, end in pairwise(places):
        found += events.feed(STREAM[start:end])
    assert [event.decode() for event in found] == EVENTS
    assert events.whole


def test_an_event_that_has_not_ended_is_not_given_out() -> None:
    """Catches the beginning of an object that is taken for an answer when the connection breaks."""
    events = Events()
    assert events.feed(b'data: {"content"') == []
    assert not events.whole
    assert events.feed(b":1}\n") == []
    assert not events.whole
    assert events.feed(b"\n") == [b'{"content":1}']
    assert events.whole


def test_an_event_without_an_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LONGEST", 1 << 20)
    events = Events()
    assert events.feed(b"data: " + b"x" * (1 << 19)) == []
    with pytest.raises(EngineFault, match="an event of more than 1 MiB"):
        events.feed(b"x" * (1 << 20))
