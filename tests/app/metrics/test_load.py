"""The steady window and the pairs of trials, by hand."""

from collections.abc import Callable

import pytest

from app.domain.facts import RequestFact, TrialFact
from app.domain.spec import Load
from app.metrics.catalogue import METRICS, points
from app.metrics.frame import Frames, from_facts
from app.metrics.load import plain_against_plain, trial_pairs
from app.metrics.window import windows
from tests.factories import request_fact, trial_fact
from tests.factories_load import load_facts


def plain_request(name: str, sent: float, ends: tuple[float, ...], **over: object) -> RequestFact:
    """A plain answer of one token a step, the first from the prefill."""
    values: dict[str, object] = {"arm": "plain", "order": 0, "sent_at": sent, "first_at": ends[0], "last_at": ends[-1]}
    tokens = {"tokens": len(ends), "step_end": ends, "step_tokens": (1,) * len(ends), "output_characters": 10 * len(ends), "output_words": len(ends)}
    return request_fact(prompt=f"ru-{name}", emitted=len(ends), undrafted=len(ends) - 1, **values | tokens | over)


def two_slots(speed: float = 1.0, **over: object) -> list[RequestFact]:
    """Six prompts over two slots. The window runs from 2 (the third comes) to 6 (a slot stays empty) and holds 2 + 3 + 2 + 3 + 1 tokens."""
    rows = [
        ("01", 0.0, (0.5, 1.0, 2.0)),
        ("02", 0.1, (1.0, 2.5, 3.0)),
        ("03", 2.0, (2.5, 3.0, 3.5)),
        ("05", 3.0, (4.0, 5.0)),
        ("06", 3.5, (4.0, 4.5, 6.0)),
        ("07", 5.0, (5.5, 6.5)),
    ]
    return [plain_request(name, sent / speed, tuple(end / speed for end in ends), **over) for name, sent, ends in rows]


def as_speculative(facts: list[RequestFact], **over: object) -> list[RequestFact]:
    return [fact.model_copy(update={"arm": "speculative", **over}) for fact in facts]


def test_tokens_of_the_steady_window_by_hand() -> None:
    """Steps at the window's start are not in it, steps at its end are; what began before counts from there on."""
    (row,) = windows(two_slots(), Load(concurrency=2)).to_dict("records")
    assert (row["seconds"], row["tokens"], row["characters"], row["words"]) == (4.0, 11.0, 110.0, 11.0)
    assert row["why"] is None


def test_the_window_of_one_at_a_time_is_none() -> None:
    assert windows(two_slots(), Load()).empty


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda facts: facts[:3], "too few"),
        (lambda facts: [*facts[:-1], facts[-1].model_copy(update={"finish": "error"})], "broke off"),
        (lambda facts: [facts[0], facts[1], *(fact.model_copy(update={"sent_at": 0.4}) for fact in facts[2:])], "closed load"),
        (lambda facts: [facts[0], facts[1].model_copy(update={"sent_at": 2.2}), *facts[2:]], "closed load"),
        (lambda facts: facts, "None"),
    ],
)
def test_why_there_is_no_window(change: Callable[[list[RequestFact]], list[RequestFact]], words: str) -> None:
    """Fewer than 3c requests, a request that broke off, three requests in two slots, a slot left empty: none is a closed load's throughput."""
    (row,) = windows(change(two_slots()), Load(concurrency=2)).to_dict("records")
    assert words in str(row["why"])
    assert (row["why"] is None) == (row["seconds"] == row["seconds"])


def test_a_window_without_time_gives_none() -> None:
    """All that comes after the slots' own is over in no time: there is nothing to divide by."""
    facts = [plain_request(f"0{i}", 0.0, (1.0, 2.0)) for i in range(2)] + [plain_request(f"0{i}", 2.0, (2.0,)) for i in range(2, 6)]
    (row,) = windows(facts, Load(concurrency=2)).to_dict("records")
    assert "Nothing was delivered" in row["why"].text


def test_answers_in_step_lose_no_generation() -> None:
    """Answers of equal length end together: 4 slots, 3 generations of a prefill each and 10 steps. A window up to the last admission would hold
    the third generation's prefills and none of its steps."""
    facts, at = [], 0.0
    for generation in range(3):
        for slot in range(4):
            ends = tuple(at + 0.5 * (slot + 1) if step == 0 else at + 2.0 + 0.1 * step for step in range(11))
            facts.append(plain_request(f"{4 * generation + slot:02}", at + 0.5 * slot, ends))
        at = facts[-1].last_at
    (row,) = windows(facts, Load(concurrency=4)).to_dict("records")
    assert row["tokens"] / row["seconds"] == pytest.approx(44 / 3.0)


def frames(blocks: int = 4, void: int | None = None, *, speed: float = 1.5) -> Frames:
    """Hand-made trials: ABBA and BAAB in turn; speculative is `speed` times as fast, plain that runs second in its pair 10 % slower."""
    requests: list[RequestFact] = []
    trials: list[TrialFact] = []
    for block in range(blocks):
        arms = ("plain", "speculative", "speculative", "plain") if block % 2 == 0 else ("speculative", "plain", "plain", "speculative")
        for place, arm in enumerate(arms):
            trial, order = 2 * block + place // 2, place % 2
            pace = speed if arm == "speculative" else 1 / 1.1 if order else 1.0
            own = two_slots(pace, trial=trial, order=order)
            requests += own if arm == "plain" else as_speculative(own)
            trials.append(trial_fact(arm=arm, trial=trial, block=block, contended=block == void and place == 0))
    return from_facts(requests, trials, load=Load(concurrency=2))


def test_neighbours_are_pairs() -> None:
    """log mean over pairs of 1.5 and 1.5 × 1.1; Σ/Σ beside it."""
    pooled, over_all = METRICS["speedup_throughput"].compute(frames())
    assert pooled.pooled.point == pytest.approx(1.5 * 1.1**0.5)
    assert (pooled.pooled.n, pooled.pooled.counted, pooled.pooled.scope) == (8, "trial pairs", "these prompts")
    assert over_all.pooled.point == pytest.approx(1.5 * (4 + 4 * 1.1) / 8)


def test_a_contended_trial_voids_its_block() -> None:
    assert set(trial_pairs(frames(void=1))["block"]) == {0, 2, 3}
    (reading,) = METRICS["speedup_throughput"].compute(frames(blocks=1, void=0))
    assert "disturbed" in str(reading.pooled.reason)


def test_the_floor_compares_places_in_the_pair() -> None:
    """First ÷ second must be 1.1 in either kind of block: the earlier trial in ABBA, the later in BAAB."""
    floor = plain_against_plain(frames())
    assert floor is not None
    assert (floor.point, floor.n, floor.counted) == (pytest.approx(1.1), 4, "blocks")


def test_the_floor_leaves_out_a_block_that_lost_a_trial() -> None:
    whole = frames()
    rows = whole.windows[~((whole.windows["arm"] == "plain") & (whole.windows["trial"] == 3))]
    floor = plain_against_plain(Frames(whole.requests, whole.rounds, whole.deliveries, whole.trials, rows, load=Load(concurrency=2)))
    assert floor is not None
    assert floor.n == 3


@pytest.mark.parametrize("over", [{"seed": 9}, {"order": 0}])
def test_only_the_same_work_in_either_place_is_a_pair(over: dict[str, object]) -> None:
    """Another seed is other work; two trials that both say they ran first were no neighbours."""
    facts = [*two_slots(trial=0, order=0), *as_speculative(two_slots(1.5, trial=0, order=1), **over)]
    rows = [trial_fact(arm=arm, trial=0, block=0) for arm in ("plain", "speculative")]
    (reading,) = METRICS["speedup_throughput"].compute(from_facts(facts, rows, load=Load(concurrency=2)))
    assert reading.pooled.point is None
    assert reading.pooled.reason is not None


def test_throughput_under_load_is_that_of_all_slots() -> None:
    """Σ seconds of overlapping requests would halve it: two slots deliver 11 tokens in 4 seconds here."""
    facts, rows = two_slots(trial=0), [trial_fact(arm="plain", trial=0, block=0)]
    found = points(facts, rows, load=Load(concurrency=2))
    assert (found["throughput[plain,tokens]"], found["throughput[plain,characters]"]) == (pytest.approx(2.75), pytest.approx(27.5))
    assert points(facts, rows)["throughput[plain,tokens]"] == pytest.approx(16 / 12.4)


def test_under_load_single_requests_make_no_pairs() -> None:
    """Ratios of request times are for one request at a time; distributions stay."""
    requests, rows = load_facts(prompts=16)
    found = points(requests, rows, load=Load(concurrency=4))
    assert (found["speedup_end_to_end"], found["speedup_decode"]) == (None, None)
    assert found["ttft[plain,p95]"] is not None
    assert found["acceptance_rate"] is not None


def test_one_at_a_time_has_no_speedup_of_throughput() -> None:
    assert not any(key.startswith("speedup_throughput") for key in points(two_slots()))
