"""Golden values of every figure from two hand-sized requests, and the rows that each may use."""

import math

import pytest

from app.domain.facts import RequestFact, TrialFact
from app.metrics.catalogue import METRICS, key_of, points
from app.metrics.frame import from_facts
from app.metrics.select import counted, paired, timed
from app.metrics.speed import plain_against_plain
from tests.factories import request_fact, requests, trial_fact, trials

# E = P 1 + A 5 + R 3 + U 1 = 10; rounds of depth 4, 4, 2 keep 4, 0, 1.
BY_HAND = {
    "tokens": 10,
    "drafted": 10,
    "verified": 5,
    "accepted": 5,
    "rounds": 3,
    "undrafted": 1,
    "prefill_tokens": 1,
    "emitted": 10,
    "longest_draft": 4,
    "round_drafted": (4, 4, 2),
    "round_verified": (4, 0, 1),
    "round_depth": (4, 4, 2),
    "round_slots": (1, 1, 1),
    "step_tokens": (1, 5, 1, 2, 1),
    "step_end": (1.5, 2.0, 2.4, 2.8, 3.0),
    "sent_at": 1.0,
    "first_at": 1.5,
    "last_at": 3.0,
    "finish": "eos",
    "draft_layer_passes": 100,
    "verify_layer_passes": 420,
    "experts_read": 90,
    "experts_chosen": 120,
    "output_characters": 45,
    "output_words": 6,
    "prompt_tokens": 20,
    "prompt_words": 10,
    "prompt_characters": 80,
}
PLAIN = BY_HAND | {
    "arm": "plain",
    "drafted": 0,
    "verified": 0,
    "accepted": 0,
    "rounds": 0,
    "undrafted": 9,
    "round_drafted": (),
    "round_verified": (),
    "round_depth": (),
    "round_slots": (),
    "step_tokens": (1,) * 10,
    "step_end": (1.6, 2.0, 2.4, 2.8, 3.2, 3.6, 4.0, 4.4, 4.8, 5.2),
    "first_at": 1.6,
    "last_at": 5.2,
}


def hand(**over: object) -> list[RequestFact]:
    return [request_fact(**(BY_HAND | over)), request_fact(**(PLAIN | over))]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("acceptance_rate", 5 / 10),
        ("verified_per_position", 8 / 13),
        ("accepted_per_round", 5 / 3),
        ("tokens_per_round", 1 + 5 / 3),
        ("tokens_per_target_forward", 9 / 4),
        ("accepted_share", 5 / 10),
        ("acceptance_at[1]", 2 / 3),
        ("acceptance_at[2]", 1 / 3),
        ("acceptance_at[3]", 1 / 2),
        ("acceptance_at_all_rounds[3]", 1 / 3),
        ("acceptance_given_previous[1]", 2 / 3),
        ("acceptance_given_previous[2]", 1 / 2),
        ("acceptance_given_previous[3]", 1 / 1),
        ("draft_coverage", 3 / 4),
        ("layer_passes_per_token", 520 / 9),
        ("experts_per_verify", 90 / 3),
        ("expert_reuse", 30 / 120),
        ("speedup_end_to_end", 4.2 / 2.0),
        ("speedup_decode", 3.6 / 1.5),
        ("throughput[plain,tokens]", 10 / 4.2),
        ("throughput[speculative,characters]", 45 / 2.0),
        ("throughput[speculative,words]", 6 / 2.0),
        ("delivery_gap[speculative,tokens per delivery]", 9 / 4),
        ("fertility[prompts,word]", 20 / 10),
        ("fertility[prompts,character]", 20 / 80),
        ("fertility[outputs,word]", 9 / 6),
        ("fertility[outputs,character]", 9 / 45),
        ("chars_per_round", 45 / 9 * (1 + 5 / 3)),
    ],
)
def test_by_hand(key: str, expected: float) -> None:
    """EOS is emitted but is no text; the first delivery is no decode time; a step without a draft is no round but costs a forward."""
    assert points(hand())[key] == pytest.approx(expected)


def test_a_forward_never_gives_less_than_one_token() -> None:
    """Catches an interval that begins below 1 where one prompt of many has nearly all drafts that were kept."""
    idle = {
        "tokens": 10, "emitted": 10, "rounds": 2, "undrafted": 7, "drafted": 8, "verified": 0, "accepted": 0, "round_drafted": (4, 4),
        "round_verified": (0, 0), "round_depth": (4, 4), "round_slots": (1, 1), "step_tokens": (1,) * 10, "step_end": PLAIN["step_end"],
        "last_at": 5.2,
    }  # fmt: skip
    lucky = idle | {"tokens": 11, "emitted": 11, "verified": 1, "accepted": 1, "round_verified": (1, 0), "step_tokens": (1, 2, *(1,) * 8)}
    facts = [request_fact(**(BY_HAND | (idle if i else lucky) | {"prompt": f"ru-{i:02}"})) for i in range(8)]
    (found,) = METRICS["tokens_per_target_forward"].compute(from_facts(facts))
    for estimate in (found.pooled, found.macro):
        assert estimate is not None
        assert estimate.low is not None
        assert estimate.point is not None
        assert 1 < estimate.low < estimate.point


def test_quantiles_by_hand() -> None:
    """Two prompts whose times are 2 s and 4 s: the median is between, p95 of two is not shown."""
    slow = [fact for name, factor in (("ru-01", 1), ("ru-02", 2)) for fact in hand(prompt=name, last_at=1 + 2 * factor) if fact.arm == "speculative"]
    found = points(slow)
    assert found["request_latency[speculative,p50]"] == pytest.approx(3.0)
    assert found["time_per_output_token[speculative,p50]"] == pytest.approx((1.5 / 9 + 3.5 / 9) / 2)
    assert found["ttft[speculative,p50]"] == pytest.approx(0.5)
    assert found["request_latency[speculative,p95]"] is None


def test_open_load_starts_the_clock_at_the_planned_arrival() -> None:
    assert points(hand(planned_at=0.25) + hand(planned_at=0.25, prompt="ru-02"))["ttft[speculative,p50]"] == pytest.approx(1.25)


def test_without_prefill_token_decoding_starts_with_the_first_delivery() -> None:
    """P = 0: the first delivery is a whole round of 5, so 1.5 s are the time of the other 5 tokens, not of 10."""
    fact = request_fact(**(BY_HAND | {"prefill_tokens": 0, "emitted": 9, "tokens": 9, "step_tokens": (5, 1, 2, 1), "step_end": (1.5, 2.0, 2.5, 3.0)}))
    row = from_facts([fact]).requests.iloc[0]
    assert row["decode_tokens"] == 4


def test_counts_come_from_one_pass() -> None:
    """Greedy repeats add nothing: R and E behind a figure are those of one pass, and n counts prompts, not requests."""
    measured = requests(prompts=8, passes=4)
    (reading, *_) = METRICS["acceptance_rate"].compute(from_facts(measured))
    once = [fact for fact in measured if fact.arm == "speculative" and fact.trial == 0]
    assert (reading.pooled.n, reading.rounds, reading.emitted) == (8, sum(f.rounds for f in once), sum(f.emitted for f in once))


def test_sampled_counts_come_from_all_passes() -> None:
    """Sampled repeats differ, so all count; prompts stay the clusters."""
    measured = requests(prompts=8, passes=4)
    (reading, *_) = METRICS["acceptance_rate"].compute(from_facts(measured, sampled=True))
    assert reading.pooled.n == 8
    assert reading.rounds == sum(f.rounds for f in measured)


def test_a_pass_cut_short_never_stands_for_a_whole_one() -> None:
    measured = [fact for fact in requests(prompts=8, passes=2) if not (fact.trial == 0 and fact.prompt > "ru-03")]
    assert set(counted(from_facts(measured))["trial"]) == {1}


def test_contended_blocks_are_void_in_both_arms() -> None:
    """One disturbed trial voids its block: pass 0 and 1 of both arms, though only one trial says so."""
    measured = requests(prompts=6, passes=4)
    rows = [fact.model_copy(update={"contended": fact.trial == 1 and fact.arm == "plain"}) for fact in trials(measured)]
    frames = from_facts(measured, rows)
    assert set(timed(frames, "speculative")["trial"]) == {2, 3}
    assert set(timed(frames, "plain")["trial"]) == {2, 3}
    assert set(counted(frames)["trial"]) == {0}, "counts do not depend on the clock"


def test_a_wholly_contended_run_has_no_time() -> None:
    measured = requests(prompts=6, passes=2)
    rows = [fact.model_copy(update={"contended": True}) for fact in trials(measured)]
    found = METRICS["speedup_end_to_end"].compute(from_facts(measured, rows))
    assert found[0].pooled.point is None
    assert "disturbed" in found[0].pooled.reason.text


def test_losslessness_requests_are_in_no_figure() -> None:
    """The float32 pass runs outside the clock, at another precision: neither its counts nor its times may leak."""
    measured = requests(prompts=6, passes=2)
    slow = [fact.model_copy(update={"purpose": "losslessness", "last_at": fact.last_at + 50}) for fact in measured]
    assert points(measured + slow) == points(measured)


def test_broken_requests_are_in_no_figure() -> None:
    measured = requests(prompts=6, passes=2)
    broken = [fact.model_copy(update={"finish": "error", "trial": 2, "last_at": fact.last_at + 50}) for fact in measured]
    assert points(measured + broken) == points(measured)


def test_only_pairs_are_timed() -> None:
    """A pass that plain finished and speculative did not would compare a quiet minute with a busy one."""
    measured = [fact for fact in requests(prompts=6, passes=2) if not (fact.trial == 1 and fact.arm == "speculative" and fact.prompt == "ru-03")]
    pairs = paired(from_facts(measured))
    assert len(pairs) == 11


def test_answers_of_other_lengths_have_no_whole_time() -> None:
    """Half precision may end an answer early; then whole times compare unequal work, and decoding counts time per token."""
    longer = [fact for name in ["ru-01", "ru-02", "ru-03", "ru-05", "ru-06", "ru-07"] for fact in [request_fact(prompt=name, tokens=32, order=1)]]
    shorter = [request_fact(prompt=fact.prompt, arm="plain", tokens=16, order=0) for fact in longer]
    found = points(longer + shorter)
    assert found["speedup_end_to_end"] is None
    each = [
        math.log((p.last_at - p.first_at) / (p.emitted - 1) / ((q.last_at - q.first_at) / (q.emitted - 1)))
        for p, q in zip(shorter, longer, strict=True)
    ]
    assert {fact.emitted for fact in longer} != {fact.emitted for fact in shorter}
    assert found["speedup_decode"] == pytest.approx(math.exp(sum(each) / len(each)))


def test_noise_floor_compares_places_not_arms() -> None:
    """Plain that runs second is 10 % slower here: first ÷ second must be 1/1.1, whatever the speculative arm does."""

    def plain_at(place: int, trial: int, prompt: str) -> RequestFact:
        seconds = 2.0 * (1.1 if place else 1.0)
        times = {"sent_at": 0.0, "first_at": seconds / 4, "last_at": seconds}
        return request_fact(**(PLAIN | times | {"order": place, "trial": trial, "prompt": prompt}))

    names = [f"ru-{i:02}" for i in range(1, 9)]
    measured = []
    for trial in (0, 1):
        for i, name in enumerate(names):
            place = (i + trial) % 2
            measured += [plain_at(place, trial, name), request_fact(**(BY_HAND | {"order": 1 - place, "trial": trial, "prompt": name}))]
    floor = plain_against_plain(from_facts(measured), decode_only=False)
    assert floor is not None
    assert (floor.point, floor.n) == (pytest.approx(1 / 1.1), 8)


def test_noise_floor_needs_both_places() -> None:
    assert plain_against_plain(from_facts(requests(prompts=8, passes=1)), decode_only=False) is None


def test_forwards_of_the_trial() -> None:
    """What batching adds needs the trial's own count of forwards, of the same pass as the tokens."""
    fact = hand()
    known: list[TrialFact] = [trial_fact(arm="speculative", trial=0, forwards=6), trial_fact(arm="plain", trial=0, forwards=10)]
    assert points(fact, known)["tokens_per_forward_all"] == pytest.approx(9 / 6)
    assert points(fact)["tokens_per_forward_all"] is None


def test_a_prompt_without_drafts_stays_in_pooled_and_leaves_macro() -> None:
    silent = request_fact(
        prompt="ru-99", tokens=9, drafted=0, verified=0, accepted=0, rounds=0, undrafted=8, round_drafted=(), round_verified=(), round_depth=(),
        round_slots=(), step_tokens=(1,) * 9, step_end=tuple(0.1 * i for i in range(1, 10)), sent_at=0, first_at=0.1, last_at=0.9, emitted=9,
    )  # fmt: skip
    measured = [fact for fact in requests(prompts=8, passes=1) if fact.arm == "speculative"]
    (reading, *_) = METRICS["acceptance_rate"].compute(from_facts([*measured, silent]))
    assert (reading.pooled.n, reading.pooled.of, reading.macro.n, reading.macro.of) == (8, 9, 8, 9)
    assert reading.left_out.values == {"left": 1, "n": 9}


def test_an_engine_that_does_not_count_drafts_has_no_acceptance() -> None:
    """`absent` drafts are stored as 0 in the fact; a rate of V/0 or of 0 would look like a figure."""
    silent = BY_HAND | {"drafted_source": "absent"}
    found = points([request_fact(**silent)])
    assert found["acceptance_rate"] is None
    assert found["tokens_per_round"] == pytest.approx(1 + 5 / 3)


def test_profiles_are_parts() -> None:
    measured = requests(prompts=8, passes=1)
    own = [fact for fact in measured if fact.arm == "speculative" and fact.profile == "code"]
    assert points(measured)["acceptance_rate[code]"] == pytest.approx(sum(f.verified for f in own) / sum(f.drafted for f in own))


def test_the_catalogue_is_in_order_and_complete() -> None:
    """A figure whose file is missing, or two with one place, would vanish or swap silently."""
    assert [metric.order for metric in METRICS.values()] == sorted({metric.order for metric in METRICS.values()})
    assert {
        "acceptance_rate", "acceptance_rate_nodes", "verified_per_position", "accepted_per_round", "tokens_per_round", "tokens_per_target_forward",
        "tokens_per_forward_all",
        "accepted_share", "acceptance_at", "acceptance_at_all_rounds", "acceptance_given_previous", "draft_coverage", "layer_passes_per_token",
        "speedup_end_to_end", "speedup_decode", "speedup_throughput", "throughput", "time_per_output_token", "delivery_gap", "ttft",
        "acceptance_by_position", "acceptance_by_context", "window_speedup",
        "request_latency", "fertility", "chars_per_round", "control_ratio", "draft_cost", "verify_cost", "predicted_speedup", "break_even_acceptance",
        "memory_overhead", "queueing", "max_stable_rate", "latency_ratio", "experts_per_verify", "expert_reuse",
    } == set(METRICS)  # fmt: skip


def test_keys_name_figure_and_part() -> None:
    assert key_of("acceptance_at", {"position": "1"}) == "acceptance_at[1]"
    assert key_of("acceptance_rate", {}) == "acceptance_rate"


def test_no_request_gives_reasons_and_no_error() -> None:
    """A run that broke off before its first request must still be reportable."""
    assert set(points([]).values()) == {None}


@pytest.mark.parametrize("end", [0.0, 5e-324, 1e-12])
def test_requests_without_time_have_no_speed(end: float) -> None:
    """A clock that stood still, or a runner that lies: no endless speed-up, no error, and prompts that were timed stay."""
    still = {"sent_at": 0.0, "first_at": 0.0, "last_at": end}
    measured = [fact for name in ("ru-01", "ru-02") for fact in hand(prompt=name)]
    measured += [request_fact(**(facts | still | {"prompt": "ru-03"})) for facts in (BY_HAND, PLAIN)]
    found = points(measured)
    assert found["speedup_end_to_end"] == pytest.approx(2.1)
    assert found["speedup_decode"] == pytest.approx(2.4)
    alone = points(measured[-2:])
    assert alone["speedup_end_to_end"] is None
    assert alone["throughput[speculative]"] is None
