"""With the engine option `compile`, in half precision: layer skip against the library's early exit. Compiling is outside the clock."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import LAYERSKIP, compiled


def _measure() -> Mapping[str, Estimate]:
    lab = compiled("layerskip", **LAYERSKIP)
    return {"compiled_layerskip_over_early_exit": lab.duel(lab.ours("layerskip", **LAYERSKIP), lab.early_exit()).first_faster()}


BENCHMARK = Benchmark("compiled_layerskip", {"compiled_layerskip_over_early_exit": Aim("≥", 1.5)}, _measure, named=True, compiles=True)
