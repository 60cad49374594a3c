"""A second model that drafts against the library's assisted generation with the same one: the target's first layers, 4 drafts a round."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import laboratory, usual


def _measure() -> Mapping[str, Estimate]:
    lab = laboratory(usual())
    return {"draft_model_over_assisted": lab.duel(lab.draft_model(), lab.assisted()).first_faster()}


BENCHMARK = Benchmark("draft_model_assisted", {"draft_model_over_assisted": Aim("≥", 1.2)}, _measure)
