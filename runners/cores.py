"""Which cores a measurement is pinned to."""

import os


def allowed() -> set[int]:
    """Those that this process may run on."""
    return set(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def measuring_cores() -> list[int]:
    """All but the first, which is left to the machine; the only one where there is one."""
    cores = sorted(allowed())
    return cores[1:] or cores


def beside(cores: list[int]) -> list[int]:
    """The others, for whoever asks what is measured on `cores`; the same ones where there are no others."""
    return sorted(allowed() - set(cores)) or cores
