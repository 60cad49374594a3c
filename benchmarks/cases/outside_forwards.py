"""What a step at batch 1 spends outside the model's own modules: masks, cache bookkeeping, the drafter's search, the rule, counts and clock."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from app.statistics.clusters import share
from benchmarks.base import Aim, Benchmark
from benchmarks.forwards import Forwards
from benchmarks.laboratory import LAYERSKIP, NGRAM, PROMPTS, Laboratory, laboratory, requests, usual

DRAFTERS: Mapping[str, Mapping[str, int]] = {"none": {}, "ngram": NGRAM, "layerskip": LAYERSKIP}


def _measure() -> Mapping[str, Estimate]:
    lab = laboratory(usual())
    return {row(drafter): _outside(lab, drafter) for drafter in DRAFTERS}


def row(drafter: str) -> str:
    return f"outside_forwards_{'plain' if drafter == 'none' else drafter}"


def _outside(lab: Laboratory, drafter: str) -> Estimate:
    loop = lab.loop(drafter, **DRAFTERS[drafter])
    loop.run(requests()[:1], 1)
    outside, all_of_it = list[float](), list[float]()
    with Forwards(lab.target, lab.clock, {0, LAYERSKIP["exit_layer"], lab.target.layers}) as forwards:
        for request in requests()[:PROMPTS]:
            ended = loop.run([request], 1)[0].step_end
            all_of_it.append(ended[-1] - ended[0])
            outside.append(all_of_it[-1] - forwards.between(ended[0], ended[-1]))
    return share(outside, all_of_it)


BENCHMARK = Benchmark("outside_forwards", {row(drafter): Aim("≤", 0.03, "share") for drafter in DRAFTERS}, _measure)
