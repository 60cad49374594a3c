"""How long a comparison of 8 runs over a million request rows takes: of what is kept with their reports, and of nothing but facts."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.service import Service, serving
from benchmarks.stored import forget_report, measured
from benchmarks.timed import ROUNDS, over_rounds, seconds

RUNS, PROMPTS, PASSES = 8, 625, 100
AIMS = {"comparison_seconds": Aim("≤", 5, "seconds"), "comparison_from_facts_seconds": Aim("≤", 5, "seconds")}


def measure() -> Mapping[str, Estimate]:
    with serving() as service:
        runs = [measured(service, prompts=PROMPTS, passes=PASSES, drafter=_drafter(number)) for number in range(1, RUNS + 1)]
        for run in runs:
            _report(service, run)
        reports = [_report(service, run) for run in runs]
        address = f"/api/v1/comparisons?runs={','.join(map(str, runs))}"
        kept = [seconds(lambda: _get(service, address)) for _ in range(ROUNDS)]
    # Of facts alone it is the reports of all runs, one after the other, and then the same.
    whole = [RUNS * each + sum(kept) / len(kept) for each in reports]
    return {"comparison_seconds": over_rounds(kept), "comparison_from_facts_seconds": over_rounds(whole)}


def _report(service: Service, run: int) -> float:
    forget_report(service, run)
    return seconds(lambda: _get(service, f"/api/v1/runs/{run}/report"))


def _drafter(number: int) -> dict[str, object]:
    return {"name": "ngram", "params": {"max_ngram": number}}


def _get(service: Service, address: str) -> None:
    service.client.get(address).raise_for_status()


BENCHMARK = Benchmark("service_comparison", AIMS, measure)
