"""Whatever a server sends, an answer or a sentence comes of it."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners.engine.external.answer import Answer, Ask, Heard, assemble, words_of
from runners.engine.external.faults import EngineFault
from runners.engine.external.serving import engines

KEYS = st.sampled_from(
    ["choices", "text", "delta", "content", "token_ids", "tokens", "usage", "completion_tokens", "finish_reason", "stop_reason", "stop", "stop_type",
     "tokens_predicted", "meta_info", "output_ids", "error", "message", "detail", "model", "type", "matched", "object"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers(-3, 10**18) | st.floats() | st.sampled_from(["", "ё", "stop", "length", "eos", "limit", "\ud800"])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=12)
EVENTS = st.lists(
    st.dictionaries(KEYS, VALUES, max_size=6).map(lambda each: json.dumps(each).encode()) | st.binary(max_size=40) | st.just(b"[DONE]"), max_size=4
)


@pytest.mark.parametrize("name", sorted(engines()))
@settings(max_examples=60)
@given(sent=EVENTS, streamed=st.booleans())
def test_any_events_give_an_answer_or_a_fault(name: str, sent: list[bytes], streamed: bool) -> None:
    """Catches a KeyError or TypeError out of a server's words, which would be a fault of ours, and an answer that never ended."""
    engine = engines()[name]("m")
    heard = Heard(None, 0.0, 9.0, tuple((float(at), data) for at, data in enumerate(sent, 1)), streamed)
    try:
        found = assemble(name, heard, lambda data, text, ids: engine.event(data, text, ids, Ask("x", 8)), ends_with_done=engine.ends_with_done)
    except EngineFault as fault:
        said = str(fault)
    else:
        said = whole(found)
    assert 0 < len(said.encode()) < 3000
    assert "\0" not in said


def whole(found: Answer) -> str:
    found.text.encode()
    assert found.finish in ("eos", "length", "stop")
    assert found.ids is None or len(found.ids) == found.emitted
    return found.finish


@given(data=st.binary(max_size=200) | VALUES.map(lambda each: json.dumps(each).encode()))
def test_any_refusal_has_words_of_a_bounded_length(data: Any) -> None:
    words = words_of(data)
    assert len(words) <= 300
    assert words.isprintable()
