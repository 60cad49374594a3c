"""Layer skip, which resumes where its draft left, against the library's early exit, which runs the exit layers again: same exit, 4 drafts a round."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import DRAFTS, laboratory, usual

EXIT = 4


def _measure() -> Mapping[str, Estimate]:
    lab = laboratory(usual())
    # By default the library adapts its draft length and stops a draft that it is not sure of; ours does neither here.
    same = {"num_assistant_tokens": DRAFTS, "num_assistant_tokens_schedule": "constant", "assistant_confidence_threshold": 0.0}
    seconds = lab.duel(lab.ours("layerskip", exit_layer=EXIT), lab.theirs(assistant_early_exit=EXIT, **same))
    return {"layerskip_over_early_exit": seconds.first_faster()}


BENCHMARK = Benchmark("layerskip_early_exit", {"layerskip_over_early_exit": Aim("≥", 1.5)}, _measure)
