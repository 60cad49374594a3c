"""Real counts as public trackers reported them (definitions § 6), and the identities behind them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.counts import Counts


def counts(**given: Any) -> Counts:
    return Counts(**{"requests": 1, "emitted": None, "rounds": None, "drafted": None, "verified": None} | given)


def test_prefill_token_inside_the_emitted() -> None:
    """Catches tokens_per_round = E/R = 1.0638, where one of the 200 tokens came from the prefill."""
    c = counts(emitted=200, rounds=188, verified=11, drafted=940, longest_draft=5)
    assert c.broken() == []
    assert (str(c.closure()), c.closure().prefill) == ("closes", 1)
    assert c.verified is not None
    assert c.rounds is not None
    assert round(1 + c.verified / c.rounds, 4) == 1.0585
    assert round(c.verified / 940, 4) == 0.0117


OVERSHOT = {"requests": 80, "emitted": 16990, "rounds": 4816, "drafted": 33712, "verified": 12208, "longest_draft": 7}


def test_counted_but_never_emitted() -> None:
    """Catches refusing an engine that is known to count before its stop check: 114 tokens were kept and never delivered."""
    closure = counts(**OVERSHOT).closure(counts_before_stop=True)
    assert (closure.kind, closure.gap, str(closure), closure.suspect) == ("overshoot", -114, "closes with overshoot 114", False)
    assert round(12208 / 33712, 3) == 0.362
    assert round(1 + 12208 / 4816, 3) == 3.535


def test_no_round_keeps_more_than_the_longest_draft() -> None:
    """Catches k read from another server, and the target's own token counted as a kept draft."""
    assert counts(rounds=10, drafted=20, verified=9, longest_draft=2, kept_at=(5, 2, 2)).broken() == [
        "a round keeps 3 drafts, the longest draft has 2"
    ]
    assert counts(rounds=10, drafted=20, verified=7, longest_draft=2, kept_at=(5, 2, 0)).broken() == []
    assert counts(rounds=5, drafted=10, verified=9, longest_draft=2, histogram=(1, 2, 1, 1)).broken() != []


def test_rounds_that_reach_a_position_lie_between_those_that_keep_and_those_that_draft_it() -> None:
    """Catches lists of different requests, or of different orders, under one roof."""
    told = {"rounds": 10, "drafted": 18, "verified": 8, "kept_at": (6, 2), "drafted_at": (10, 8)}
    assert counts(**told, tried_at=(10, 5)).broken() == []
    for wrong in ((10, 1), (10, 9), (5, 5)):
        assert "reach a position" in " ".join(counts(**told, tried_at=wrong).broken())


def test_overshoot_is_not_granted_to_an_unknown_engine() -> None:
    """Catches an excuse that holds for everyone."""
    assert counts(**OVERSHOT).closure().suspect


@pytest.mark.parametrize(("missing", "kind"), [(80 * 7, "overshoot"), (80 * 7 + 1, "open")])
def test_overshoot_is_bounded_by_a_draft_per_request(missing: int, kind: str) -> None:
    """Catches an unbounded overshoot: each request can lose at most its last draft."""
    c = counts(**OVERSHOT | {"prefill_tokens": 80, "emitted": 80 + 12208 + 4816 - missing})
    assert c.closure(counts_before_stop=True).kind == kind


@pytest.mark.parametrize(
    ("seen", "kind"), [({"kept_at": (40, 24, 9, 1, 0)}, "overshoot"), ({"histogram": (2, 3, 0, 0, 9, 0)}, "overshoot"), ({}, "open")]
)
def test_overshoot_is_bounded_by_what_a_round_was_seen_to_keep(seen: dict[str, tuple[int, ...]], kind: str) -> None:
    """Catches a server of unknown draft length refused for the one token that a stop string cut off, and a bound of the list's length: of 4 kept
    drafts a request loses at most 4."""
    told = {"requests": 1, "prefill_tokens": 1, "undrafted": 0, "rounds": 10, "verified": 36} | seen
    assert counts(emitted=47 - 4, **told).closure(counts_before_stop=True).kind == kind
    assert counts(emitted=47 - 5, **told).closure(counts_before_stop=True).kind == "open"


def test_truly_open() -> None:
    """Catches 1096 tokens that no step explains passing for undrafted steps although the source counted those."""
    closure = counts(requests=80, prefill_tokens=80, emitted=18200, rounds=4816, verified=12208, undrafted=0).closure()
    assert (str(closure), closure.suspect) == ("does not close by 1096", True)


def test_the_same_with_unknown_undrafted_steps_implies_them() -> None:
    """Catches calling implied steps observed."""
    closure = counts(requests=80, prefill_tokens=80, emitted=18200, rounds=4816, verified=12208).closure()
    assert (closure.kind, str(closure)) == ("undrafted_implied", "closes with at least 1096 undrafted steps")


def test_rounds_without_a_draft_hidden() -> None:
    """Catches tokens_per_round alone: 4.587 a round is 2.96 a forward once the 821 steps without a draft count."""
    c = counts(emitted=5376, rounds=993, drafted=4960, verified=3562, undrafted=821, prefill_tokens=0)
    assert c.closure().kind == "closes"
    assert c.broken() == []
    assert round(1 + 3562 / 993, 3) == 4.587
    assert round(5376 / (993 + 821), 2) == 2.96


def test_short_histogram() -> None:
    """Catches a histogram read as rates, or its zero bin left out."""
    histogram = (39, 1, 0, 3)
    c = counts(rounds=43, verified=10, drafted=43 * 3, longest_draft=3, histogram=histogram)
    assert c.broken() == []
    assert round(1 + 10 / 43, 5) == 1.23256
    assert round(10 / 129, 5) == 0.07752
    assert counts(rounds=44, verified=10, histogram=histogram).broken() == ["the histogram counts 43 rounds, R is 44"]
    assert counts(rounds=43, verified=11, histogram=histogram).broken() == ["the histogram keeps 10 drafts, V is 11"]


def test_positions_halved_by_two_engine_ranks() -> None:
    """Catches per-position counts of one rank beside totals of two."""
    halves = (20, 10, 5)
    assert counts(rounds=50, verified=35, drafted=150, kept_at=halves).broken() == []
    assert counts(rounds=100, verified=70, drafted=300, kept_at=halves).broken() == [
        "the positions keep 35 drafts, V is 70; several engine ranks were perhaps not added up"
    ]


@pytest.mark.parametrize(
    ("given_counts", "named"),
    [
        ({"verified": 11, "drafted": 10}, "V ≤ D is broken: 11 kept of 10 drafted; the bonus token was probably counted"),
        ({"accepted": 5, "verified": 4}, "A ≤ V is broken: 5 delivered of 4 kept"),
        ({"drafted": 21, "rounds": 4, "longest_draft": 5}, "D ≤ R·k is broken: 21 drafted in 4 rounds of at most 5"),
        ({"undrafted": -1}, "a count is below 0"),
        ({"kept_at": (3, 4)}, "more rounds keep a later draft than an earlier one"),
        ({"kept_at": (6,), "rounds": 5}, "6 rounds keep a first draft, R is 5"),
    ],
)
def test_each_identity_is_named(given_counts: dict[str, Any], named: str) -> None:
    assert counts(**given_counts).broken() == [named]


def test_missing_counts_break_nothing_and_close_nothing() -> None:
    """Catches None read as 0."""
    assert counts().broken() == []
    assert counts().closure().kind == "unknown"
    assert str(counts(emitted=5, rounds=2).closure()) == "cannot be checked: a count is missing"


@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(0, 8)), max_size=40),
    st.integers(0, 50),
    st.integers(0, 1),
    st.integers(0, 9),
    st.integers(0, 1),
)
def test_counts_of_a_real_loop_close(rounds: list[tuple[int, int]], undrafted: int, prefill: int, cut: int, bonus: int) -> None:
    """Catches an identity that a correct loop breaks: any rounds, any cut at the end; leaving one token out must show."""
    kept = [min(drafted, k) for drafted, k in rounds]
    verified, discarded = sum(kept), min(cut, sum(kept))
    bonus = bonus if rounds else 0
    accepted = verified - discarded
    c = Counts(
        requests=1,
        emitted=prefill + accepted + len(rounds) + undrafted - bonus,
        rounds=len(rounds),
        drafted=sum(drafted for drafted, _ in rounds),
        verified=verified,
        accepted=accepted,
        undrafted=undrafted,
        prefill_tokens=prefill,
        discarded_bonus=bonus,
        longest_draft=8,
        kept_at=tuple(sum(k > position for k in kept) for position in range(8)),
        histogram=tuple(kept.count(j) for j in range(9)),
    )
    assert c.broken() == []
    assert c.closure().kind == "closes"
    assert c.emitted is not None
    wrong = Counts(**vars(c) | {"emitted": c.emitted + 1})
    assert wrong.closure().suspect
