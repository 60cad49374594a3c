"""A fact that breaks an identity is refused with the name of what it breaks."""

from typing import Any

import pytest
from pydantic import ValidationError

from app.domain.facts import FACT, RequestFact, TrialFact
from tests.factories import facts, request_fact, trial_fact
from tests.factories_told import reading, untold

GOOD = request_fact(prompt="ru-03")
ROUNDS = GOOD.rounds


def changed(**over: Any) -> dict[str, Any]:
    return GOOD.model_dump(mode="json") | over


def test_a_whole_run_of_facts_survives_json() -> None:
    """Catches a field that does not come back equal from the wire."""
    for fact in facts():
        assert FACT.validate_json(fact.model_dump_json()) == fact


@pytest.mark.parametrize(
    ("over", "named"),
    [
        ({"verified": GOOD.drafted + 1}, "V ≤ D is broken"),
        ({"accepted": GOOD.verified + 1}, "A ≤ V is broken"),
        ({"longest_draft": 1}, "D ≤ R·k is broken"),
        ({"longest_draft": 1}, "longer than the controller may reach"),
        ({"emitted": GOOD.emitted + 1}, "E = P . A . R . U"),
        ({"accepted": GOOD.accepted - 1}, "E = P . A . R . U"),
        ({"undrafted": GOOD.undrafted + 1}, "E = P . A . R . U"),
        ({"discarded_bonus": 1}, "E = P . A . R . U"),
        ({"round_slots": (1,) * (ROUNDS - 1)}, "per-round lists have"),
        ({"rounds": ROUNDS + 1, "undrafted": max(GOOD.undrafted - 1, 0)}, "per-round lists have"),
        ({"round_drafted": (*GOOD.round_drafted[:-1], GOOD.round_drafted[-1] + 1)}, "do not add up to D and V"),
        ({"round_verified": (*GOOD.round_verified[:-1], GOOD.round_verified[-1] + 1)}, "do not add up to D and V"),
        ({"round_depth": (0,) * ROUNDS}, "keeps more than its depth"),
        ({"round_depth": tuple(made + 1 for made in GOOD.round_drafted)}, "deeper than its draft"),
        ({"step_tokens": (*GOOD.step_tokens[:-1], 2)}, "tokens per step do not add up to E"),
        ({"step_end": GOOD.step_end[:-1]}, "tokens per step do not add up to E"),
        ({"first_at": GOOD.last_at + 1}, "times run backwards"),
        ({"sent_at": GOOD.first_at + 1}, "times run backwards"),
        ({"step_end": tuple(reversed(GOOD.step_end))}, "times run backwards"),
    ],
)
def test_each_broken_identity_is_named(over: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        RequestFact.model_validate(changed(**over))


def test_a_round_without_a_draft_is_no_round() -> None:
    """Catches steps that drafted nothing counted into R, which flatters draft_coverage."""
    fact = next(fact for fact in (request_fact(prompt=f"ru-{number:02}") for number in range(50)) if fact.undrafted > 0)
    moved = {
        "rounds": fact.rounds + 1,
        "undrafted": fact.undrafted - 1,
        "round_slots": (*fact.round_slots, 1),
        **{name: (*getattr(fact, name), 0) for name in ("round_drafted", "round_verified", "round_depth")},
    }
    with pytest.raises(ValidationError, match="a round without a draft is an undrafted step"):
        RequestFact.model_validate(fact.model_dump(mode="json") | moved)


@pytest.mark.parametrize("name", [name for name, field in RequestFact.model_fields.items() if field.is_required()])
def test_a_missing_count_is_refused_by_name(name: str) -> None:
    """Catches a count that defaults to 0 where it was never given."""
    body = changed()
    del body[name]
    with pytest.raises(ValidationError) as error:
        RequestFact.model_validate(body)
    assert [item["loc"] for item in error.value.errors() if item["type"] == "missing"] == [(name,)]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.5, 1e9])
def test_times_are_finite_and_bounded(value: float) -> None:
    with pytest.raises(ValidationError, match="last_at"):
        RequestFact.model_validate(changed(last_at=value))


@pytest.mark.parametrize(
    "over",
    [{"output_ids": (1,) * 8193}, {"output_text": "x" * 100_001}, {"prompt": "x" * 257}, {"drafted": 10**10}, {"extra": 1}, {"repeated_share": 1.01}],
)
def test_sizes_are_bounded_and_unknown_fields_refused(over: dict[str, Any]) -> None:
    """Catches a runner that fills the database, and a field that nobody reads."""
    with pytest.raises(ValidationError, match=next(iter(over))):
        RequestFact.model_validate(changed(**over))


def test_an_unknown_kind_of_fact_is_refused() -> None:
    with pytest.raises(ValidationError, match="rumour"):
        FACT.validate_python({"kind": "rumour"})


def test_counts_of_a_fact_are_its_own() -> None:
    """Catches two counts swapped on the way to the identities."""
    c = GOOD.counts()
    for name in ("emitted", "rounds", "drafted", "verified", "accepted", "undrafted", "prefill_tokens", "discarded_bonus", "longest_draft"):
        assert getattr(c, name) == getattr(GOOD, name)
    assert GOOD.discarded_drafts == GOOD.verified - GOOD.accepted


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"last_at": 0.5}, "first and last steps"),
        ({"output_ids": (1, 2, 3)}, "3 output ids"),
        ({"output_digest": "0" * 64}, "digest"),
    ],
)
def test_times_and_answers_belong_to_the_steps(change: dict[str, Any], said: str) -> None:
    """Catches a decode time that ends before its own steps (it would be an endless speed-up), and a digest of another answer."""
    fact = request_fact(prompt="ru-00").model_dump()
    with pytest.raises(ValidationError, match=said):
        RequestFact.model_validate(fact | change)


@pytest.mark.parametrize(
    ("told", "contended"),
    [
        ({"steal": 0.5, "others": 0.9, "contended": False}, True),
        ({"steal": None, "others": 0.031}, True),
        ({"steal": 0.031, "others": None}, True),
        ({"steal": 0.03, "others": 0.03}, False),
        ({"steal": None, "others": None, "contended": True}, True),
    ],
)
def test_what_disturbed_a_trial_is_in_its_shares(told: dict[str, Any], contended: bool) -> None:
    """Catches a trial that half the machine was taken from, and whose times are used because the runner calls it quiet."""
    fact = trial_fact().model_dump(mode="json", exclude={"contended", "steal", "others"}) | told
    assert TrialFact.model_validate(fact).contended is contended


COUNTS = ("drafted", "verified", "accepted", "rounds", "undrafted", "prefill_tokens", "discarded_bonus", "longest_draft")


@pytest.mark.parametrize("name", COUNTS)
def test_a_count_may_be_untold_and_stays_so(name: str) -> None:
    """Catches an absent count that is refused, or that comes back as 0."""
    fact = untold(GOOD, name)
    assert getattr(FACT.validate_json(fact.model_dump_json()), name) is None
    assert getattr(fact.counts(), name) is None


@pytest.mark.parametrize(
    ("names", "over", "named"),
    [
        ((), {"rounds": None}, "per-round lists have"),
        (("lists",), {"round_slots": (1,) * ROUNDS}, "per-round lists have"),
        (("lists",), {"round_step": tuple(range(1, ROUNDS + 1))}, "no round is listed"),
        (("accepted",), {"verified": GOOD.drafted + 1}, "V ≤ D is broken"),
        (("undrafted",), {"emitted": GOOD.emitted - (GOOD.undrafted or 0) - 1}, "E = P . A . R . U"),
        (("undrafted", "prefill_tokens"), {"accepted": GOOD.emitted + 1}, "A ≤ E is broken"),
        ((), {"drafted": None}, "D is not told, and its source is observed"),
        (("longest_draft",), {"round_depth": tuple(made + 1 for made in GOOD.round_drafted)}, "deeper than its draft"),
    ],
)
def test_what_is_told_still_has_to_hold(names: tuple[str, ...], over: dict[str, Any], named: str) -> None:
    """Catches a fact that says one thing less and is then believed in everything else."""
    with pytest.raises(ValidationError, match=named):
        RequestFact.model_validate(untold(GOOD, *names).model_dump() | over)


def test_rounds_may_be_counted_and_not_listed() -> None:
    """Catches an engine whose R comes from a difference of counters and which could not be reported at all."""
    fact = untold(GOOD, "lists")
    assert (fact.rounds, fact.listed, GOOD.listed) == (ROUNDS, False, True)
    assert untold(GOOD, "slots").listed


def test_what_was_cut_off_is_told_or_bounded() -> None:
    """Catches a served answer whose engine kept drafts that were never delivered: known, it closes; unknown, it may be no more than one round's."""
    cut = {"emitted": GOOD.emitted - 2, "step_tokens": (), "step_end": (), "output_ids": None, "output_digest": "0" * 64}
    body = GOOD.model_dump() | cut | {"step_tokens": (GOOD.emitted - 2,), "step_end": (GOOD.last_at,), "first_at": GOOD.last_at, "round_step": None}
    known = {"accepted": (GOOD.verified or 0) - 1, "discarded_bonus": 1}
    assert RequestFact.model_validate(body | known).discarded_drafts == 1
    assert RequestFact.model_validate(body | {"accepted": None, "discarded_bonus": None}).counts().closure(counts_before_stop=True).gap == -2
    with pytest.raises(ValidationError, match="does not close by 2"):
        RequestFact.model_validate(body)
    far = body | {"emitted": GOOD.emitted - 9, "step_tokens": (GOOD.emitted - 9,), "accepted": None, "discarded_bonus": None}
    with pytest.raises(ValidationError, match="does not close by 9"):
        RequestFact.model_validate(far)


@pytest.mark.parametrize(
    ("over", "named"),
    [
        ({"verified": 10**9}, "V ≤ D is broken"),
        ({"rounds": -1}, "below 0"),
        ({"emitted": 10**16}, "emitted is to be from 0"),
        ({"kept_at": (3,) * 20_000}, "kept_at has 20000 entries"),
        ({"kept_at": (1, 2)}, "keep a later draft"),
    ],
)
def test_counters_of_an_engine_are_bounded_and_agree(over: dict[str, Any], named: str) -> None:
    """Catches totals that no engine can have, and a list that fills the database."""
    body = trial_fact().model_dump() | {"counted": reading([GOOD], **over).model_dump()}
    with pytest.raises(ValidationError, match=named):
        TrialFact.model_validate(body)


def test_a_trial_keeps_what_the_engine_counted() -> None:
    """Catches counters that do not come back equal from the wire."""
    fact = trial_fact(counted=reading([GOOD], forced="--spec-synth-rates"), foreign=3, forwards=None, slot_steps=None)
    assert FACT.validate_json(fact.model_dump_json()) == fact
