"""With the engine option `compile`: what a plain decode step reads, against what one core streams."""

from collections.abc import Mapping

import torch

from app.domain.estimate import Estimate
from app.statistics.pairs import throughput_speedup
from benchmarks.bare import Bare
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import TOKENS, compiled, requests, watch
from benchmarks.pairs import TRIAL_ORDERS, interleave

PAIRS = 8


def _measure() -> Mapping[str, Estimate]:
    """Bytes of weights that a decode step reads in a second ÷ bytes that a sum over as many reads. Keys and values come on top, uncounted."""
    lab = compiled()
    assert lab.target.weight_bytes is not None
    buffer = torch.ones(lab.target.weight_bytes // 4, device=lab.target.device)
    bare = Bare(lab.target, 0)
    bare.begin(requests()[0])
    begun = list(bare.ids)

    def decode(_: int) -> None:
        bare.ids = list(begun)
        for _ in range(TOKENS):
            bare.step()

    def stream(_: int) -> None:
        for _ in range(TOKENS):
            float(buffer.sum())

    decode(0)
    stream(0)
    seconds = interleave(range(PAIRS), decode, stream, lab.clock, orders=TRIAL_ORDERS, watch=watch)
    achieved, streamed = ([1 / each for each in spent] for spent in (seconds.first, seconds.second))
    return {"compiled_bandwidth_over_streamed": throughput_speedup(achieved, streamed)}


BENCHMARK = Benchmark("compiled_bandwidth", {"compiled_bandwidth_over_streamed": Aim("≥", 0.8)}, _measure, compiles=True)
