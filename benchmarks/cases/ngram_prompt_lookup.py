"""Drafting by n-grams against the library's prompt lookup: n-grams of 1 to 3 tokens, 4 drafts a round."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import DRAFTS, laboratory, usual

LONGEST = 3


def _measure() -> Mapping[str, Estimate]:
    lab = laboratory(usual())
    seconds = lab.duel(lab.ours("ngram", shortest=1, longest=LONGEST), lab.theirs(prompt_lookup_num_tokens=DRAFTS, max_matching_ngram_size=LONGEST))
    return {"ngram_over_prompt_lookup": seconds.first_faster()}


BENCHMARK = Benchmark("ngram_prompt_lookup", {"ngram_over_prompt_lookup": Aim("≥", 1.1)}, _measure)
