"""With the engine option `compile`, in half precision: drafting by n-grams against the library's prompt lookup. Compiling is outside the clock."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import NGRAM, compiled


def _measure() -> Mapping[str, Estimate]:
    lab = compiled("ngram", **NGRAM)
    return {"compiled_ngram_over_prompt_lookup": lab.duel(lab.ours("ngram", **NGRAM), lab.lookup()).first_faster()}


BENCHMARK = Benchmark("compiled_ngram", {"compiled_ngram_over_prompt_lookup": Aim("≥", 1.1)}, _measure, named=True, compiles=True)
