"""The rates of the gates over a machine: the table is the one of the code, and its first cells come out again."""

import json

import numpy as np

from tests.app.statistics.gates import BESIDE, SEED, SIMULATIONS, TABLE, Rate, cases, disturbed, measured, overloaded, tilted, undecided, waited

TOLD = json.loads(TABLE.read_text(encoding="utf-8"))
KEPT = [Rate(**rate) for rate in TOLD["rates"]]


def test_the_kept_rates_are_those_of_the_cases_in_the_code() -> None:
    """Catches a case, a seed or a number of simulations that changed without `make coverage`."""
    assert [(r.gate, r.case, r.wanted, r.values, r.n) for r in KEPT] == [
        (r.gate, r.case, r.wanted, r.values, SIMULATIONS // dear) for r, _, dear in cases()
    ]
    assert TOLD["seed"] == SEED
    assert all(0 <= r.low <= r.flagged / r.n <= r.high <= 1 for r in KEPT)


def test_a_rate_comes_out_again() -> None:
    """Catches a gate that was changed without measuring it again: the cheap cases, simulation by simulation."""
    for case, fire, dear in cases():
        if case.gate == "not level" or case.values.get("others") == 0.02:
            kept = next(each for each in KEPT if (each.gate, each.case, each.values) == (case.gate, case.case, case.values))
            assert measured(case, fire, SIMULATIONS // dear) == kept


def test_quiet_machines_are_seldom_blamed() -> None:
    """Catches a gate that refuses runs by chance: at the noise of a machine alone 1 % at most, of a level bench about the 5 % of its interval."""
    for rate in KEPT:
        if rate.wanted == "none" and (rate.values.get("others", 0) < 0.01 and rate.gate in {"disturbed", "warm-up"}):
            assert rate.low < 0.01 or rate.values.get("spread") == BESIDE["step"], rate
        if rate.wanted == "none" and rate.gate == "not level":
            assert rate.low < 0.055, rate


def test_faults_far_beyond_the_limits_are_caught() -> None:
    """The negative control: others who take a quarter, twice the arrivals that can be served, a place that costs a fifth."""
    source = np.random.default_rng(7)
    assert all(disturbed(source, 0.25, 4.0) for _ in range(40))
    assert all(undecided(source, 0.25, 4.0) for _ in range(10))
    assert all(tilted(source, 24, 0.2) for _ in range(20))
    assert sum(overloaded(source, 2.0, 2) for _ in range(5)) == 5
    assert not any(waited(source, 0.001, 1.3, 400.0) for _ in range(5))


def test_rounded_counters_alone_disturb_nobody() -> None:
    """Catches counters whose hundredths, rounded down in each of them, add up to somebody who is not there."""
    source = np.random.default_rng(3)
    assert not any(disturbed(source, 0.0, 2.0) for _ in range(500))
