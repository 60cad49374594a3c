"""No tax: our plain arm is at least as fast as the library's own `generate`, in the type that runs take here and in float32."""

from collections.abc import Mapping

import torch

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.laboratory import laboratory, usual


def _measure() -> Mapping[str, Estimate]:
    return {"plain_over_generate": _ratio(usual()), "plain_over_generate_float32": _ratio(torch.float32)}


def _ratio(dtype: torch.dtype) -> Estimate:
    lab = laboratory(dtype)
    return lab.duel(lab.ours("none"), lab.theirs()).first_faster()


BENCHMARK = Benchmark("plain_generate", dict.fromkeys(("plain_over_generate", "plain_over_generate_float32"), Aim("≥", 1.0)), _measure)
