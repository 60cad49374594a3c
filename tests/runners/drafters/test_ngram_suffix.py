"""Suffix decoding: the collection of places against brute force, and memory that ends where a trial ends."""

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.clock import Clock
from runners.drafters.ngram_suffix import NgramSuffix, NgramSuffixParams
from runners.engine.draft import Batch
from runners.engine.sequence import Request
from runners.engine.stops import StopRules
from runners.engine.suffixes import Suffixes
from runners.parts import choose
from runners.protocol.bench import Bench
from tests.models import counts, loop_of, prompts, spec, tiny

LIMIT = 40


def searched(texts: list[list[int]], tail: list[int], depth: int, limit: int, factor: float, least: float) -> tuple[int, list[int], list[float]]:
    """The same by looking at every place of every text."""

    def places_of(size: int) -> list[tuple[int, int]]:
        return [(t, end) for t, text in enumerate(texts) for end in range(size, len(text)) if text[end - size : end] == tail[-size:]]

    matched = max((size for size in range(1, min(depth, len(tail)) + 1) if places_of(size)), default=0)
    places, tokens, shares, path = places_of(matched) if matched else [], [], [], 1.0
    while len(tokens) < min(limit, int(factor * matched)):
        following = [(texts[t][end + len(tokens)], (t, end)) for t, end in places if end + len(tokens) < len(texts[t])]
        if not following:
            break
        often = Counter(token for token, _ in following)
        token = [token for token, _ in following if often[token] == max(often.values())][-1]
        path *= often[token] / len(following)
        if path < least:
            break
        tokens.append(token)
        shares.append(often[token] / len(following))
        places = [place for other, place in following if other == token]
    return matched, tokens, shares


TEXT = st.lists(st.integers(0, 3), max_size=30)


@given(
    st.lists(TEXT, min_size=1, max_size=4), st.integers(1, 6), st.integers(0, 8), st.sampled_from([0.5, 1.0, 2.5]), st.sampled_from([0.0, 0.1, 0.6])
)
def test_it_answers_what_a_search_of_all_places_answers(texts: list[list[int]], depth: int, limit: int, factor: float, least: float) -> None:
    """Catches a match across two texts, at the end of a text, longer than allowed, or not the longest; wrong shares; ties decided at random."""
    held = Suffixes(depth)
    for number, text in enumerate(texts):
        if number:
            held.close()
        held.extend(text)
    assert len(held) == sum(map(len, texts))
    for tail in (texts[-1], texts[0], [1, 2, 3], [9]):
        found = held.follow(tail[-depth:], limit, factor=factor, least=least)
        matched, tokens, shares = searched(texts, tail, depth, limit, factor, least)
        assert (found.matched, list(found.tokens)) == (matched, tokens)
        assert list(found.shares) == pytest.approx(shares)


def test_a_growing_text_is_indexed_token_by_token() -> None:
    """Catches an index that depends on how a text came in."""
    dice = random.Random(3)
    text = [dice.randrange(3) for _ in range(200)]
    whole, grown = Suffixes(8), Suffixes(8)
    whole.extend(text)
    at = 0
    while at < len(text):
        step = dice.randint(1, 5)
        grown.extend(text[at : at + step])
        grown.follow(text[:at][-8:] or [0], 4, factor=1.0, least=0.0)
        at += step
    assert grown.follow(text[-8:], 6, factor=2.0, least=0.0) == whole.follow(text[-8:], 6, factor=2.0, least=0.0)


def drafter(**params: Any) -> NgramSuffix:
    return NgramSuffix(NgramSuffixParams(**params), tiny("llama"))


def proposed(made: NgramSuffix, ids: list[int], limit: int = 8, more: Any = None) -> list[int]:
    draft = made.propose(Batch((0,), (ids,)), [limit], more)
    return draft.tokens[0, : draft.lengths[0]].tolist()


def test_the_most_frequent_continuation_of_the_longest_match_is_drafted() -> None:
    """Catches the latest or first occurrence taken for the most frequent one, and a short match preferred to a long one."""
    made = drafter(factor=4.0)
    ids = [1, 2, 3, 8, 1, 2, 4, 1, 2, 3, 9, 5, 2, 7, 1, 2]
    made.begin(0, ids)
    assert proposed(made, ids, 1) == [3]
    assert proposed(made, ids, 2) == [3, 9]
    # 3 was said in two of three places and 9 in half of those.
    assert proposed(drafter_behind(ids, least=0.5), ids) == [3]
    assert proposed(drafter_behind(ids, factor=0.5), ids) == [3]
    assert proposed(made, ids, 8, lambda slot, share: share > 0.9) == [3]
    assert proposed(made, [*ids, 99]) == []


def drafter_behind(ids: list[int], **params: Any) -> NgramSuffix:
    made = drafter(**{"factor": 4.0, **params})
    made.begin(0, ids)
    return made


def answered(memory: str, requests: list[Request], concurrency: int = 1) -> Any:
    loop = loop_of(tiny("llama", slots=2), spec("ngram-suffix", {"memory": memory}, length=6), StopRules(LIMIT))
    return loop, loop.run(requests, concurrency)


def again(times: int) -> list[Request]:
    request = prompts(1, repeating=False)[0]
    return [Request(f"p{number}", request.ids, seed=number) for number in range(times)]


def test_memory_of_the_process_knows_earlier_answers_to_their_end() -> None:
    """Catches an answer that is not remembered, or without its last tokens: asked the same again, it drafts nearly all of what it said."""
    _, alone = answered("request", again(3))
    _, learnt = answered("process", again(3))
    assert counts(alone[0])[1:] == counts(alone[2])[1:]
    assert counts(learnt[0])[1:] == counts(alone[0])[1:]
    assert learnt[2].accepted > alone[2].accepted
    assert learnt[2].accepted >= 0.7 * (LIMIT - 2)
    assert [s.output for s in learnt] == [s.output for s in alone]


def test_prompts_are_not_remembered_beyond_their_request() -> None:
    """Catches drafts from another request's prompt: what is remembered are answers."""
    made = drafter(memory="process", factor=4.0)
    first = [5, 6, 7, 8, 9]
    made.begin(0, first)
    proposed(made, first)
    made.begin(0, [1, 5, 6])
    assert proposed(made, [1, 5, 6]) == []


def bench(memory: str) -> Bench:
    chosen = choose(spec("ngram-suffix", {"memory": memory}, length=6))
    target = tiny("llama", slots=2)
    return Bench(target, {0: chosen}, StopRules(LIMIT), Clock(target.device))


def passed(made: Bench, requests: list[Request]) -> list[Any]:
    groups = list(made.groups(requests, [[None, 0]] * len(requests), None))
    return [counts(outcome.sequence) for group in groups for outcome in group if outcome.seat == 0]


@pytest.mark.parametrize("memory", ["request", "process"])
def test_every_trial_begins_with_an_empty_memory(memory: str) -> None:
    """Catches a second trial that drafts from the answers of the first: its acceptance would be that of a text it has already seen."""
    made = bench(memory)
    first = passed(made, again(3))
    assert passed(made, again(3)) == first
    together = made.together(0, again(4), 2)
    assert together is not None
    repeated = made.together(0, again(4), 2)
    assert repeated is not None
    assert [counts(o.sequence) for o in repeated[0]] == [counts(o.sequence) for o in together[0]]


def test_a_memory_that_outlives_its_trial_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control of the test before."""
    monkeypatch.setattr(NgramSuffix, "reset", lambda self: None)
    made = bench("process")
    first = passed(made, again(3))
    assert passed(made, again(3)) != first


def test_the_order_of_prompts_matters_with_memory_and_without_it_does_not() -> None:
    """Catches a passport that says nothing of what its counts depend on: this is why it says it."""
    requests = [*again(1), *(Request(f"q{n}", r.ids, seed=n) for n, r in enumerate(prompts(2))), *again(2)[1:]]
    for memory, moves in (("request", False), ("process", True)):
        straight = {s.request.prompt: counts(s) for s in answered(memory, requests)[1]}
        turned = {s.request.prompt: counts(s) for s in answered(memory, requests[::-1])[1]}
        assert (straight != turned) is moves


def test_the_passport_says_what_the_parameters_remember() -> None:
    """Catches a memory that crosses requests under a passport that denies it."""
    assert choose(spec("ngram-suffix", {})).memory == "request"
    assert choose(spec("ngram-suffix", {"memory": "process"})).memory == "process"
