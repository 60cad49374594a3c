"""With the engine option `compile`, in half precision: plain decoding against the library's own `generate`. Compiling is outside the clock."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import compiled


def _measure() -> Mapping[str, Estimate]:
    lab = compiled()
    return {"compiled_plain_over_generate": lab.duel(lab.ours("none"), lab.theirs()).first_faster()}


BENCHMARK = Benchmark("compiled_plain", {"compiled_plain_over_generate": Aim("≥", 1.4)}, _measure, compiles=True)
