"""How long a comparison of 8 runs over a million request rows takes: of what is kept with their reports, and of nothing but facts."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.service import Service, serving
from benchmarks.stored import forget_report, measured
from benchmarks.timed import ROUNDS, over_rounds, seconds

# Three arms, and two of them once more for losslessness: 1 000 000 requests.
RUNS, PROMPTS, PASSES = 8, 625, 66
# Each is eight reports; the fewest rounds that give an interval.
FROM_FACTS = 6
AIMS = {"comparison_seconds": Aim("≤", 5, "seconds"), "comparison_from_facts_seconds": Aim("≤", 5, "seconds")}


def measure() -> Mapping[str, Estimate]:
    with serving() as service:
        runs = [measured(service, prompts=PROMPTS, passes=PASSES, drafter=_drafter(number)) for number in range(1, RUNS + 1)]
        whole = [_from_facts(service, runs) for _ in range(FROM_FACTS)]
        kept = [_compared(service, runs) for _ in range(ROUNDS)]
    return {"comparison_seconds": over_rounds(kept), "comparison_from_facts_seconds": over_rounds(whole)}


def _from_facts(service: Service, runs: list[int]) -> float:
    """The service looks for missing reports by itself now and then; what it computes meanwhile is part of the time."""
    service.settle()
    for run in runs:
        forget_report(service, run)
    return _compared(service, runs)


def _compared(service: Service, runs: list[int]) -> float:
    return seconds(lambda: service.client.get(f"/api/v1/comparisons?runs={','.join(map(str, runs))}").raise_for_status())


def _drafter(number: int) -> dict[str, object]:
    return {"name": "ngram", "params": {"max_ngram": number}}


BENCHMARK = Benchmark("service_comparison", AIMS, measure)
