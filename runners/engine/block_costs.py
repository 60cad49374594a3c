"""What one attention and one MLP of a target cost on this device, by the length of the text."""

from collections.abc import Callable
from statistics import median

import numpy as np
import torch

from runners.clock import Clock
from runners.engine.blocks import BlockCosts

# Where of the context attention is timed, as shares of it, and how often each; the first readings warm up.
PLACES, TIMES, WARM = (0.05, 0.25, 0.5, 0.75, 0.95), 9, 3
Once = Callable[[], object]


def measure(device: torch.device, context: int, attention: Callable[[int], Once], mlp: Once) -> BlockCosts:
    """Medians over single tokens; `attention(n)` gives what attends once to n entries and itself. A straight line is fitted over n (KnapSpec,
    arXiv 2602.20217); one that falls is noise, and taken as flat."""
    clock = Clock(device)
    entries = sorted({max(1, int(share * (context - 1))) for share in PLACES})
    seconds = [_seconds(clock, attention(length)) for length in entries]
    feeding = _seconds(clock, mlp)
    slope, base = np.polyfit(entries, seconds, 1) if len(entries) > 1 else (0.0, seconds[0])
    return BlockCosts(float(base), float(slope), feeding) if slope > 0 and base > 0 else BlockCosts(median(seconds), 0.0, feeding)


def _seconds(clock: Clock, once: Once) -> float:
    readings = []
    for _ in range(WARM + TIMES):
        clock.settle()
        began = clock.now()
        once()
        clock.settle()
        readings.append(clock.now() - began)
    return median(readings[WARM:])
