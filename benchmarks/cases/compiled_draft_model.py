"""With the engine option `compile`, in half precision: a second model that drafts against the library's assisted generation with the same one. Only
the target's forwards are compiled, in our arm; the second model runs as it is in both. Compiling is outside the clock."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import NGRAM, compiled


def _measure() -> Mapping[str, Estimate]:
    # A second model asks of the target what an n-gram drafter does: one verification of the whole draft.
    lab = compiled("ngram", **NGRAM)
    return {"compiled_draft_model_over_assisted": lab.duel(lab.draft_model(), lab.assisted()).first_faster()}


BENCHMARK = Benchmark("compiled_draft_model", {"compiled_draft_model_over_assisted": Aim("≥", 1.2)}, _measure, compiles=True)
