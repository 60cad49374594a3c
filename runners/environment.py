"""The machine that a run is measured on, and how quiet it was."""

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import torch

from app.domain.facts import EnvironmentFact
from app.domain.quiet import contended
from app.domain.spec import Dtype

PACKAGES = ("bezmen", "torch", "transformers", "tokenizers", "numpy")
DTYPES: dict[Dtype, torch.dtype] = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
ROOT = Path(__file__).parents[1]


def pin(cores: list[int]) -> None:
    """Keeps this process on `cores`, where the system can; must run before torch starts its threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
    torch.set_num_threads(len(cores))


def pick_device() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda", 0)
    return torch.device("cpu")


def identity(device: torch.device) -> str:
    """What tells a device from its like on this machine. All its processors are one."""
    return gpu_identity(torch.cuda.get_device_properties(device)) if device.type == "cuda" else "cpu"


def gpu_identity(properties: Any) -> str:
    """The GPU's UUID, its place on the PCI bus where the build of torch tells none, else its name. `properties` as torch.cuda has them."""
    uuid = str(getattr(properties, "uuid", None) or "")
    if uuid.strip("0-"):
        return f"gpu {uuid}"
    place = [getattr(properties, f"pci_{part}_id", None) for part in ("domain", "bus", "device")]
    if place[1] is not None:
        return "pci " + ":".join(f"{part or 0:x}" for part in place)
    return str(properties.name)


def half_type(device: torch.device) -> torch.dtype | None:
    """The 16-bit type that this device computes natively, or None."""
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if device.type == "cpu":
        # Where they are emulated, 16-bit types are slower than float32.
        flags = _cpu_flags()
        return torch.bfloat16 if {"avx512_bf16", "amx_bf16", "bf16"} & flags else None
    return torch.float16


def _cpu_flags() -> set[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    return {flag for line in lines if line.lower().startswith(("flags", "features")) for flag in line.split(":", 1)[1].split()}


def auto_dtype(device: torch.device) -> Dtype:
    """What `auto` is on this device."""
    native = half_type(device) or torch.float32
    return next(name for name, dtype in DTYPES.items() if dtype == native)


def describe(device: torch.device, cores: list[int]) -> EnvironmentFact:
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    details = {} if (found := commit()) is None else {"commit": found}
    if device.type == "cuda":
        details["cuda"] = str(torch.version.cuda)
        details["gpu_memory"] = str(torch.cuda.get_device_properties(device).total_memory)
    return EnvironmentFact(
        device=torch.cuda.get_device_name(device) if device.type == "cuda" else _cpu_name(),
        device_kind="cuda" if device.type == "cuda" else "cpu",
        cores=psutil.cpu_count() or 1,
        threads=len(cores),
        memory_bytes=psutil.virtual_memory().total,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        versions=versions,
        details=details,
    )


def commit() -> str | None:
    """The commit of the source that this process runs from, with `-dirty` where files differ from it; None for an installed package."""
    try:
        described = subprocess.run(
            ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return described.stdout.strip() if described.returncode == 0 and (ROOT / ".git").exists() else None


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return (names[0] if names else platform.processor() or platform.machine())[:256]


@dataclass(frozen=True)
class Quiet:
    """How quiet the measuring cores were: shares of their time that the hypervisor (`steal`) and other processes (`others`) took;
    None where the system does not tell."""

    load_average: float | None
    steal: float | None
    others: float | None
    clock_mhz: float | None

    @property
    def contended(self) -> bool:
        return contended(self.steal, self.others)


def own_seconds() -> float:
    """Processor time that this process has taken."""
    spent = psutil.Process().cpu_times()
    return float(spent.user + spent.system)


class Watch:
    """Reads the cores' counters when made and again at `read()`. `own` gives the seconds that the measurement itself has taken of them; whoever
    measures through other processes must not start or end one in between."""

    def __init__(self, cores: list[int], own: Callable[[], float] = own_seconds) -> None:
        self.cores, self._own = cores, own
        self._before = self._counters()

    def _counters(self) -> tuple[float, float, float, float]:
        """Seconds so far: (all time, busy, stolen) summed over the cores, and the measurement's own."""
        times = psutil.cpu_times(percpu=True)
        chosen = [times[core] for core in self.cores if core < len(times)]
        total = sum(sum(t) - getattr(t, "guest", 0.0) - getattr(t, "guest_nice", 0.0) for t in chosen)
        idle = sum(t.idle + getattr(t, "iowait", 0.0) for t in chosen)
        steal = sum(getattr(t, "steal", 0.0) for t in chosen)
        return total, total - idle - steal, steal, self._own()

    def read(self) -> Quiet:
        total, busy, steal, own = (after - before for after, before in zip(self._counters(), self._before, strict=True))
        known = total > 0 and hasattr(os, "sched_setaffinity")
        frequency = psutil.cpu_freq() if hasattr(psutil, "cpu_freq") else None
        return Quiet(
            load_average=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
            steal=min(1.0, steal / total) if known else None,
            others=min(1.0, max(0.0, busy - own) / total) if known else None,
            clock_mhz=frequency.current if frequency else None,
        )
