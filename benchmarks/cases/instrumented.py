"""What counting and timing cost: our plain arm as in headline trials against a bare greedy loop over the same forwards."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from app.statistics.pairs import speedup
from benchmarks.bare import Beside
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import PROMPTS, laboratory, requests, usual, watch


def _measure() -> Mapping[str, Estimate]:
    lab = laboratory(usual(), 2)
    loop = Beside.of(lab.loop("none"))
    loop.both(requests()[0])
    bare, whole = list[float](), list[float]()
    for request in requests()[:PROMPTS]:
        for _ in range(2):
            looking = watch()
            plain, ours = loop.both(request)
            if not looking.read().contended:
                bare.append(plain)
                whole.append(ours)
                break
    return {"instrumented_over_bare": speedup(whole, bare)}


BENCHMARK = Benchmark("instrumented", {"instrumented_over_bare": Aim("≤", 1.01)}, _measure)
