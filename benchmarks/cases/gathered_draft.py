"""A draft over a gathered slice of the cache, its choice and its gathering included, against one over all of it: texts of 2048 and 8192 tokens."""

from collections.abc import Mapping

import torch

from app.domain.estimate import Estimate
from app.statistics.pairs import speedup
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import DRAFTS, Laboratory, laboratory, spec, usual, watch
from benchmarks.pairs import PROMPT_ORDERS, interleave
from runners.drafters.base import Drafter
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.transformers_target import TransformersTarget
from runners.parts import choose

PAIRS = 8
# Tokens of text and draft together; the second is the most that the model was made for.
LENGTHS: Mapping[str, int] = {"2k": 2048, "8k": 8192}
DRAFTERS = ("specattn", "sink-window")


def row(drafter: str, length: str) -> str:
    return f"{drafter.replace('-', '_')}_draft_{length}"


def _measure() -> Mapping[str, Estimate]:
    lab = laboratory(usual())
    return {row(drafter, length): _compared(lab, drafter, tokens) for length, tokens in LENGTHS.items() for drafter in DRAFTERS}


def _compared(lab: Laboratory, name: str, tokens: int) -> Estimate:
    """Seconds of a draft over everything ÷ seconds of the drafter's own, both of as many tokens."""
    target = TransformersTarget(lab.model, slots=1, context=tokens, eos=frozenset())
    drafter = choose(spec(name)).bind(target, Chance())
    batch = _held(target, drafter, tokens - DRAFTS)

    def gathered(_: int) -> None:
        drafter.propose(batch, [DRAFTS])

    def whole(_: int) -> None:
        last = torch.zeros(1, dtype=torch.long, device=target.device)
        for depth in range(DRAFTS):
            last = target.early(batch, last, depth, target.layers)[0].argmax(dim=-1)

    gathered(0)
    whole(0)
    seconds = interleave(range(PAIRS), gathered, whole, lab.clock, orders=PROMPT_ORDERS, watch=watch)
    return speedup(seconds.second, seconds.first)


def _held(target: TransformersTarget, drafter: Drafter, tokens: int) -> Batch:
    """A text whose entries are noise: what a draft costs depends on how many there are, and a real text would have to be prefilled."""
    torch.manual_seed(0)
    for held in (*target.cache.keys, *target.cache.values):
        held.normal_()
    batch = Batch((0,), ([0] * tokens,))
    with target.supplying(drafter.needs):
        target.verify(batch, Draft.empty(1, target.device))
    return batch


BENCHMARK = Benchmark("gathered_draft", {row(drafter, length): Aim("≥", 1.0) for drafter in DRAFTERS for length in LENGTHS}, _measure)
