"""torch.compile as this runner uses it, and what it needs of the machine."""

import os
import shutil
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

COMPILERS = ("g++", "clang++", "c++")
# Tensors of fixed shapes in, one out.
Pass = Callable[..., Tensor]


def missing(device: torch.device) -> str | None:
    """What compiling lacks on this machine, as the object of a sentence; None when it lacks nothing."""
    if device.type == "cuda" and find_spec("triton") is None:
        return "the package triton"
    if cxx() is None:
        return f"a C++ compiler ({', '.join(COMPILERS)}, or the one that CXX names)"
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").is_file():
        return "the header files of Python (Python.h)"
    return None


def cxx() -> str | None:
    """The path of the C++ compiler."""
    named = os.environ.get("CXX")
    return next((found for name in ([named] if named else COMPILERS) if (found := shutil.which(name))), None)


def keep_in(folder: Path) -> None:
    """Keeps compiled code in a folder of the runner's own from run to run: it is loaded and run from there, so nobody else may write to it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder)


def build(run: Pass, example: Callable[[Pass], Tensor], graphs: bool = False) -> Pass:
    """`run` compiled for one shape: `example` calls what it is given once with arguments of that shape.

    Weights are constants of the compiled code and packed as its kernels read them (a second copy in memory). With `graphs` the kernels of a call
    are replayed as one CUDA graph, whose outputs the next replay overwrites, so they are copied.
    """
    # The shape is chosen before the call and the modules never change, so that looking at each of them again before every call finds nothing.
    options: dict[str, Any] = {"guard_filter_fn": torch.compiler.skip_guard_on_all_nn_modules_unsafe, "triton.cudagraphs": graphs}
    # The stub does not know isolate_recompiles: without it all passes would share one list of compiled shapes, searched before every call.
    make: Any = torch.compile
    made: Pass = make(run, fullgraph=True, dynamic=False, isolate_recompiles=True, options=options)

    def replay(*given: Tensor) -> Tensor:
        torch.compiler.cudagraph_mark_step_begin()  # type: ignore[no-untyped-call]
        return made(*given).clone()

    found = replay if graphs else made
    with _settings():
        # A graph is recorded by the second call, behind the one that warms the kernels up.
        for _ in range(3 if graphs else 1):
            example(found)
    return found


def hold(tensors: Iterable[Tensor]) -> None:
    """Says that these stay where they are: a graph may only write into memory whose address it knows."""
    for tensor in tensors:
        torch._dynamo.mark_static_address(tensor)


def forget() -> None:
    """Drops everything compiled so far; each compiled pass holds a copy of its weights."""
    torch.compiler.reset()


@contextmanager
def _settings() -> Iterator[None]:
    compiler = cxx()
    # Worker processes of the compiler would outlive it and stand beside the measurement.
    torch.compiler.set_stance("default")
    with torch.inference_mode(), torch._inductor.config.patch({"freezing": True, "compile_threads": 1, "cpp.cxx": (None, compiler or "g++")}):
        yield
    # Whatever would be compiled later would be compiled inside a clock, and without a word.
    torch.compiler.set_stance("fail_on_recompile")
