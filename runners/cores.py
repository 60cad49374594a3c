"""Which cores a measurement is pinned to."""

import os


def measuring_cores() -> list[int]:
    """All but the first, which is left to the machine; the only one where there is one."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    return cores[1:] or cores
