"""Latency under planned arrivals, from queues whose every time is known by hand or by theory."""

import math

import numpy as np
import pytest

from app.domain.spec import Load
from app.metrics.arrivals import capacity, plain_against_plain, rise, stability, trial_pairs
from app.metrics.catalogue import METRICS, points
from app.metrics.frame import Frames, from_facts
from tests.factories import trial_fact
from tests.factories_load import load_facts
from tests.factories_open import open_facts, served


def load(rate: float, concurrency: int = 1) -> Load:
    return Load(kind="open", rate=rate, concurrency=concurrency)


def frames(rate: float, concurrency: int = 1, **over: object) -> Frames:
    requests, trials = open_facts(rate=rate, concurrency=concurrency, **over)
    return from_facts(requests, trials, load=load(rate, concurrency))


def constant(arm: str, planned: list[float], seconds: float, *, trial: int = 0, order: int = 0, slots: int = 1) -> list[object]:
    """A trial in which every request takes exactly `seconds` in its slot."""
    free, found = [0.0] * slots, []
    for fact in served(arm, trial, order, planned):
        sent = max(fact.planned_at or 0.0, min(free))
        free[free.index(min(free))] = sent + seconds
        ends = tuple(np.linspace(sent + seconds / 2, sent + seconds, len(fact.step_end)).tolist())
        found.append(fact.model_copy(update={"sent_at": sent, "step_end": ends, "first_at": ends[0], "last_at": ends[-1]}))
    return found


def of(requests: list[object], rate: float = 1.0) -> Frames:
    made = {(fact.arm, fact.trial): trial_fact(arm=fact.arm, trial=fact.trial, block=fact.trial // 2) for fact in requests}
    return from_facts(requests, made.values(), load=load(rate))


def test_times_count_from_the_planned_arrival_by_hand() -> None:
    """Catches a clock that starts at the slot: the wait that a load causes would be in no figure. Arrivals at 0, 1, 2, 10; 3 s each, one slot."""
    found = points(constant("plain", [0.0, 1.0, 2.0, 10.0], 3.0), [trial_fact(arm="plain", trial=0, block=0)], load=load(1.0))
    assert found["request_latency[plain,p50]"] == pytest.approx(np.median([3.0, 5.0, 7.0, 3.0]))
    assert found["ttft[plain,p50]"] == pytest.approx(np.median([1.5, 3.5, 5.5, 1.5]))
    assert found["queueing[plain,p50]"] == pytest.approx(np.median([0.0, 2.0, 4.0, 0.0]))
    # Three in a row and one apart, from 0 to 13: the idle second between them is time of the bench too.
    assert found["throughput[plain,tokens]"] == pytest.approx(sum(f.emitted for f in served("plain", 0, 0, [0.0, 1.0, 2.0, 10.0])) / 13)


def test_p95_and_p99_need_enough_requests_and_are_those_of_numpy() -> None:
    """Catches quantiles per trial averaged over trials, and a p99 of too few values."""
    requests, trials = open_facts(rate=0.4)
    found = points(requests, trials, load=load(0.4))
    own = [f.last_at - f.planned_at for f in requests if f.arm == "plain"]
    assert found["request_latency[plain,p95]"] == pytest.approx(np.quantile(own, 0.95))
    assert found["request_latency[plain,p99]"] == pytest.approx(np.quantile(own, 0.99))
    few, rows = open_facts(rate=0.4, blocks=1, prompts=9)
    lacking = points(few, rows, load=load(0.4))
    assert (lacking["request_latency[plain,p50]"] is None, lacking["request_latency[plain,p95]"]) == (False, None)


def test_rise_by_hand() -> None:
    """Arrivals each second, nobody served: the number in system grows by 10 over the second half of 20 s. A number that stays is 0."""
    planned = np.arange(0.0, 21.0)
    assert rise(planned, np.full(21, 99.0)) == pytest.approx(10.0, abs=0.2)
    assert rise(planned, planned + 2.0) == pytest.approx(0.0, abs=0.3)
    assert rise(np.zeros(4), np.ones(4)) == 0.0


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize(("share", "stable"), [(0.3, True), (0.6, True), (1.8, False), (5.0, False)])
def test_what_is_stable_is_told_from_what_is_not(share: float, stable: bool, concurrency: int) -> None:
    """Catches both errors: latencies of an overloaded queue passed for a property of the arm, and a bearable load refused. A slot serves 1.4/s."""
    seen = stability(frames(1.4 * share * concurrency, concurrency, prompts=24 * concurrency), "plain")
    assert seen is not None
    assert seen.stable is stable


def test_a_bearable_load_is_seldom_called_unstable() -> None:
    """Catches a test of growth that chance alone trips: at 70 % use, at most a few of 40 runs."""
    wrong = 0
    for run in range(40):
        requests, trials = [], []
        for trial in range(6):
            planned = np.cumsum(np.random.default_rng([run, trial]).exponential(1.0, 24)).tolist()
            requests += constant("plain", planned, 0.7, trial=trial)
            trials.append(trial_fact(arm="plain", trial=trial, block=trial // 2))
        seen = stability(from_facts(requests, trials, load=load(1.0)), "plain")
        wrong += seen is not None and not seen.stable
    assert wrong <= 5


@pytest.mark.parametrize(("share", "passes", "most", "least"), [(0.6, 8, 3, 0), (1.8, 8, 40, 30), (0.8, 4, 4, 0), (2.0, 4, 40, 32)])
def test_a_few_arrivals_show_an_overload_by_what_is_served(share: float, passes: int, most: int, least: int) -> None:
    """Trials of 8 requests end before a queue has grown. Catches 4 arrivals a second called bearable where 2.4 are served, and the other error."""
    told = 0
    for run in range(40):
        requests, trials = [], []
        for trial in range(passes):
            rng = np.random.default_rng([run, trial])
            planned = np.cumsum(rng.exponential(1.0, 8)).tolist()
            requests += constant("plain", planned, 2 * share * float(rng.uniform(0.9, 1.1)), trial=trial, slots=2)
            trials.append(trial_fact(arm="plain", trial=trial, block=trial // 2))
        seen = stability(from_facts(requests, trials, load=load(1.0)), "plain")
        told += seen is not None and not seen.stable
    assert least <= told <= most


def test_an_arm_far_slower_than_plain_is_unfinished() -> None:
    """The second sign alone: everybody has a slot and nobody waits, but the answers come long after plain's would."""
    planned = [float(i) for i in range(8)]
    slow = [*constant("plain", planned, 0.5), *constant("speculative", planned, 4.0, order=1, slots=8)]
    seen = stability(of(slow), "speculative")
    assert seen is not None
    assert seen.why is not None
    assert seen.unfinished == pytest.approx(0.5)
    assert "unfinished" in seen.why.text


def test_the_ratio_is_plain_over_speculative_of_medians_per_pair() -> None:
    """Twice as fast in every slot without a queue is 2, and above 1 is better; catches the ratio upside down and pooled over trials."""
    requests = []
    for trial in range(6):
        planned = [10.0 * (i + 1) for i in range(20)]
        pace = 1.0 + 0.01 * trial
        requests += constant("plain", planned, 4.0 * pace, trial=trial, order=trial % 2)
        requests += constant("speculative", planned, 2.0 * pace * (1.0 + 0.001 * trial), trial=trial, order=1 - trial % 2)
    median, tail = METRICS["latency_ratio"].compute(of(requests, 0.1))
    for reading in (median, tail):
        assert reading.pooled.point == pytest.approx(2.0, rel=0.01)
        assert (reading.pooled.n, reading.pooled.counted, reading.pooled.scope) == (6, "trial pairs", "these prompts")
        assert reading.pooled.low is not None
    assert (median.part, tail.part) == ({}, {"quantile": "p95"})


def test_t_on_the_log_over_pairs() -> None:
    """The interval by hand from the pairs' medians; catches one over requests, which would be far too narrow."""
    found = frames(0.5)
    pairs = trial_pairs(found)
    logs = np.log(pairs["p50_plain"] / pairs["p50_speculative"])
    (reading, _) = METRICS["latency_ratio"].compute(found)
    half = 2.5706 * logs.std(ddof=1) / math.sqrt(6)
    assert reading.pooled.point == pytest.approx(math.exp(logs.mean()))
    assert (reading.pooled.low, reading.pooled.high) == pytest.approx((math.exp(logs.mean() - half), math.exp(logs.mean() + half)), 1e-4)


def test_other_arrivals_are_no_pair() -> None:
    """Catches arms weighed under different luck."""
    requests, trials = open_facts(rate=0.5, blocks=2)
    moved = [f.model_copy(update={"planned_at": f.planned_at - 0.01}) if (f.arm, f.trial) == ("plain", 1) else f for f in requests]
    assert set(trial_pairs(from_facts(moved, trials, load=load(0.5)))["trial"]) == {0, 2, 3}


def test_a_closed_loads_facts_are_no_open_load() -> None:
    """A runner that ignores the arrivals: its latencies must not pass for those of the load."""
    requests, trials = load_facts()
    (reading, _) = METRICS["latency_ratio"].compute(from_facts(requests, trials, load=load(1.0)))
    assert "planned arrivals" in str(reading.pooled.reason)


def test_unstable_has_no_latency_but_a_capacity_near_the_truth() -> None:
    """At three times what a slot serves: no latency, and the highest rate within 3 % of 1 ÷ mean service time, whatever the arrival rate."""
    for rate in (4.0, 9.0):
        found = frames(rate)
        values = {key: metric for key, metric in _readings(found).items() if key[0] in {"latency_ratio", "request_latency", "queueing", "ttft"}}
        assert all(reading.pooled.point is None and "nstable" in str(reading.pooled.reason) for reading in values.values())
        service = found.requests[found.requests["arm"] == "plain"]
        mean = (service["seconds"] - service["queueing"]).mean()
        assert capacity(found, "plain")[0] == pytest.approx(1 / mean, rel=0.03)
        assert _readings(found)["max_stable_rate", "plain"].pooled.point == capacity(found, "plain")[0]


def test_a_stable_arm_does_not_name_its_limit() -> None:
    """Catches the rate that came in passed for the rate that can be borne."""
    reading = _readings(frames(0.3))["max_stable_rate", "speculative"]
    assert reading.pooled.point is None
    assert "was not reached" in str(reading.pooled.reason)


def test_the_floor_compares_places_over_blocks() -> None:
    requests = []
    for trial in range(6):
        planned = [10.0 * (i + 1) for i in range(8)]
        requests += constant("plain", planned, 1.1 if trial % 2 == 0 else 1.0, trial=trial, order=trial % 2)
        requests += constant("speculative", planned, 1.0, trial=trial, order=1 - trial % 2)
    floor = plain_against_plain(of(requests))
    assert floor is not None
    assert (floor.point, floor.n, floor.counted) == (pytest.approx(1.1), 3, "blocks")


@pytest.mark.parametrize(("kind", "absent"), [("single", True), ("closed", True), ("open", False)])
def test_figures_of_arrivals_are_those_of_an_open_load_only(kind: str, absent: bool) -> None:
    assert all((kind not in METRICS[id].loads) is absent for id in ("latency_ratio", "queueing", "max_stable_rate"))
    assert METRICS["speedup_throughput"].loads == ("closed",)


def _readings(found: Frames) -> dict[tuple[str, ...], object]:
    ids = ("latency_ratio", "request_latency", "queueing", "ttft", "max_stable_rate")
    return {(id, *reading.part.values()): reading for id in ids for reading in METRICS[id].compute(found)}
