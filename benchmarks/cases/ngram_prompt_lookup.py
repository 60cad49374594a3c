"""Drafting by n-grams against the library's prompt lookup: n-grams of 1 to 3 tokens, 4 drafts a round."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import NGRAM, laboratory, usual


def _measure() -> Mapping[str, Estimate]:
    lab = laboratory(usual())
    return {"ngram_over_prompt_lookup": lab.duel(lab.ours("ngram", **NGRAM), lab.lookup()).first_faster()}


BENCHMARK = Benchmark("ngram_prompt_lookup", {"ngram_over_prompt_lookup": Aim("≥", 1.1)}, _measure)
