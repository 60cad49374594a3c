"""Arrivals of an open load: when each request is sent, decided beforehand and whatever happens to the others."""

import random


def arrivals(requests: int, rate: float, burstiness: float, seed: str) -> list[float]:
    """Seconds from the trial's start at which requests arrive, in order; `rate` a second on average.

    Gaps are drawn from a gamma law of shape `burstiness` and mean 1/rate: their coefficient of variation is 1/√burstiness, so 1 is a Poisson
    process, less comes in bursts, more is more regular (as in vLLM's serving benchmark). Equal seeds give equal arrivals; those of two rates are
    then the same pattern at another pace, so that a sweep over rates does not compare different luck.
    """
    draw = random.Random(seed)
    found, now = [], 0.0
    for _ in range(requests):
        now += draw.gammavariate(burstiness, 1 / burstiness) / rate
        found.append(now)
    return found
