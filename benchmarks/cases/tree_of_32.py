"""A tree of 32 nodes, 8 deep, against a chain of 8, both over the same layer skip: as many draft passes, wider ones, and a wider verification."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import LAYERSKIP, LONGEST, laboratory, usual

TREE: Mapping[str, int | str] = {"settings": f"exit_layer={LAYERSKIP['exit_layer']}", "nodes": 32, "width": 4}


def _measure() -> Mapping[str, Estimate]:
    lab = laboratory(usual())
    tree, chain = lab.ours("tree-topk", LONGEST, **TREE), lab.ours("layerskip", LONGEST, **LAYERSKIP)
    return {"tree_of_32_over_chain_of_8": lab.duel(tree, chain).first_faster()}


BENCHMARK = Benchmark("tree_of_32", {"tree_of_32_over_chain_of_8": Aim("≥", 1.0)}, _measure)
