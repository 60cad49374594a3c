"""Load is real batching: eight requests in flight deliver three times the tokens per second of one, in half precision."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from app.statistics.pairs import throughput_speedup
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import half, laboratory, requests, watch
from benchmarks.pairs import TRIAL_ORDERS, interleave

SLOTS, PAIRS = 8, 4


def _measure() -> Mapping[str, Estimate]:
    lab = laboratory(half(), SLOTS)
    loop, asked = lab.loop("none"), requests()[:SLOTS]

    def decode(concurrency: int) -> int:
        return sum(sequence.emitted for sequence in loop.run(asked, concurrency))

    tokens = {concurrency: decode(concurrency) for concurrency in (1, SLOTS)}
    seconds = interleave(range(PAIRS), lambda _: decode(1), lambda _: decode(SLOTS), lab.clock, orders=TRIAL_ORDERS, watch=watch)
    one, eight = ([tokens[c] / each for each in spent] for c, spent in ((1, seconds.first), (SLOTS, seconds.second)))
    return {"batch_8_over_batch_1": throughput_speedup(eight, one)}


BENCHMARK = Benchmark("batch_of_eight", {"batch_8_over_batch_1": Aim("≥", 3.0)}, _measure)
