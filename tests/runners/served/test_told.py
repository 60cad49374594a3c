"""Counts of one request out of what an engine says of it, held to answers of real engines whose rounds were counted by hand."""

from typing import Any

import pytest

from app.domain.counts import Counts
from app.domain.outside.reading import Reading
from app.domain.outside.streamed import Ended
from runners.engine.external.answer import Answer, Delivery
from runners.engine.external.engines.base import Rounds
from runners.engine.external.faults import EngineFault
from runners.engine.sequence import Request
from runners.served.told import Told, bursts, delivered


@pytest.mark.parametrize(
    ("emitted", "rounds", "verified", "undrafted", "longest", "accepted", "bonus"),
    [
        # llama-server: whole answers, then stop strings inside a round.
        (64, 5, 9, 49, 8, 9, 0),
        (22, 2, 16, 3, 8, 16, 0),
        (19, 2, 16, 3, 8, 14, 1),
        (5, 1, 8, 3, 8, 1, 1),
        # vLLM drafts past the limit and past the end of text.
        (64, 11, 21, 34, 4, 19, 1),
        (22, 5, 16, 2, 4, 15, 1),
        (64, 7, 12, 45, 4, 12, 1),
        (48, 10, 39, 0, 4, 38, 1),
    ],
)
def test_what_the_last_round_lost_is_told_apart(
    emitted: int, rounds: int, verified: int, undrafted: int, longest: int, accepted: int, bonus: int
) -> None:
    known = {"emitted": emitted, "rounds": rounds, "drafted": longest * rounds, "verified": verified, "undrafted": undrafted}
    counts = Counts(requests=1, prefill_tokens=1, longest_draft=longest, **known)
    assert delivered(counts) == (accepted, bonus)


@pytest.mark.parametrize(
    "over",
    [
        {"undrafted": None},
        {"prefill_tokens": None},
        {"rounds": None},
        # More is lacking than a draft of 4 and its bonus token.
        {"emitted": 14},
        # More tokens than steps can have given.
        {"emitted": 40},
        {"longest_draft": None, "emitted": 21},
    ],
)
def test_what_is_not_known_is_not_made_up(over: dict[str, Any]) -> None:
    known: dict[str, Any] = {"emitted": 22, "rounds": 5, "verified": 14, "undrafted": 2, "prefill_tokens": 1, "longest_draft": 4}
    assert delivered(Counts(requests=1, drafted=20, **known)) == (14, 0)
    assert delivered(Counts(requests=1, drafted=20, **known | over)) == (None, None)


def reading(**counts: int | None) -> Reading:
    return Reading(engine="llama.cpp", shape="timings", counts=Counts(**{"requests": 1, "rounds": None, "drafted": None, "verified": None} | counts))  # type: ignore[arg-type]


def told(
    deliveries: list[int | None], emitted: int, *, plain: bool = False, own: Reading | None = None, moved: Reading | None = None, **over: Any
) -> Told:
    finish: Ended = "length"
    pieces = tuple(Delivery(float(at), tokens, 1) for at, tokens in enumerate(deliveries))
    ids = tuple(range(emitted))
    answer = Answer("text", emitted, ids, None, finish, {}, pieces, None, -1.0, 99.0)
    return Told(Request("p1", (1, 2)), answer, plain, own or reading(emitted=emitted, prefill_tokens=1), moved, **over)


def test_a_prompt_of_several_steps_leaves_the_undrafted_ones_as_they_are() -> None:
    """Catches a prompt's own calls in U, which would look like a round that was cut."""
    moved = reading(emitted=9, rounds=2, drafted=8, verified=4, undrafted=2 + 3, prefill_tokens=1, longest_draft=4)
    counted = told([1] * 9, 9, moved=moved, prompt_steps=lambda: 3).counted()
    assert (counted["undrafted"], counted["accepted"], counted["discarded_bonus"]) == (2, 4, 0)
    unknown = told([1] * 9, 9, moved=moved).counted()
    assert (unknown["undrafted"], unknown["accepted"], unknown["rounds"]) == (None, None, 2)


def test_rounds_one_by_one_are_told_where_they_add_up() -> None:
    own = reading(emitted=8, rounds=2, drafted=8, verified=4, prefill_tokens=1, longest_draft=4)
    moved = reading(emitted=8, rounds=2, drafted=8, verified=4, undrafted=1, prefill_tokens=1)
    whole = told([1, 4, 2, 1], 8, own=own, moved=moved, rounds=Rounds((4, 4), (3, 1)), prompt_steps=lambda: 0).counted()
    assert (whole["round_drafted"], whole["round_verified"], whole["round_slots"]) == ((4, 4), (3, 1), (1, 1))
    assert "round_drafted" not in told([1, 4, 2, 1], 8, own=own, moved=moved, rounds=Rounds((4,), (3,))).counted()
    assert told([1, 4, 2, 1], 8, own=own, rounds=Rounds((4, 4), (3, 1))).counted()["round_slots"] == ()


def test_a_plain_arm_that_drafts_is_none() -> None:
    with pytest.raises(EngineFault, match="drafts although it is the plain arm"):
        told([1] * 4, 4, plain=True, own=reading(emitted=4, drafted=3, verified=1, prefill_tokens=1)).counted()


def test_counts_that_contradict_each_other_are_refused() -> None:
    """Catches more tokens than the engine's own steps can have given, taken for a measurement."""
    moved = reading(emitted=20, rounds=1, drafted=4, verified=2, undrafted=3, prefill_tokens=1, longest_draft=4)
    with pytest.raises(EngineFault, match=r"counts what contradicts itself: .* does not close by 13"):
        told([1] * 20, 20, moved=moved, prompt_steps=lambda: 0).counted()
    with pytest.raises(EngineFault, match="V ≤ D is broken"):
        told([1] * 20, 20, own=reading(emitted=20, drafted=2, verified=4, prefill_tokens=1)).counted()


def test_tokens_of_one_step_are_one_delivery() -> None:
    """Catches gaps of microseconds between the tokens of a round, which would make any median gap that of nothing."""
    assert bursts([(1.0, 1), (1.04, 1), (1.04002, 1), (1.04004, 1), (1.08, 2)]) == [(1.0, 1), (1.04, 3), (1.08, 2)]


def test_a_token_has_a_time_or_there_is_no_measurement() -> None:
    assert told([None] * 5, 5, plain=True).counted()["step_tokens"] == (1,) * 5
    with pytest.raises(EngineFault, match="no token has a time"):
        told([None] * 4, 5, plain=True).counted()
