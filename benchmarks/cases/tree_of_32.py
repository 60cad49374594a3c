"""A tree of 32 nodes, 8 deep, against a chain of 8, both over the layer skip of the demo: as many draft passes at most, wider ones, and a wider
verification. At the exit of the other cases hardly any draft is kept, and a tree has nothing to branch for: there it takes longer than the chain."""

from collections.abc import Mapping

from app.demo.plan import MODELS
from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import LONGEST, laboratory, usual

EXIT = MODELS["smollm2-135m-instruct"].exit_layer
TREE: Mapping[str, int | str] = {"settings": f"exit_layer={EXIT}", "nodes": 32, "width": 4}


def _measure() -> Mapping[str, Estimate]:
    lab = laboratory(usual())
    tree, chain = lab.ours("tree-topk", LONGEST, **TREE), lab.ours("layerskip", LONGEST, exit_layer=EXIT)
    return {"tree_of_32_over_chain_of_8": lab.duel(tree, chain).first_faster()}


BENCHMARK = Benchmark("tree_of_32", {"tree_of_32_over_chain_of_8": Aim("≥", 1.0)}, _measure)
