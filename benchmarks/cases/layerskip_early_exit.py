"""Layer skip, which resumes where its draft left, against the library's early exit, which runs the exit layers again: same exit, 4 drafts a round."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import LAYERSKIP, laboratory, usual


def _measure() -> Mapping[str, Estimate]:
    lab = laboratory(usual())
    return {"layerskip_over_early_exit": lab.duel(lab.ours("layerskip", **LAYERSKIP), lab.early_exit()).first_faster()}


BENCHMARK = Benchmark("layerskip_early_exit", {"layerskip_over_early_exit": Aim("≥", 1.5)}, _measure)
