"""Pre-flight of a job on served engines: everything that can be refused before one is started."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import torch

from app.domain.facts import EnvironmentFact, PreflightFact
from app.domain.spec import Dtype, ModelSource, RunSpec
from app.domain.tokenizer import TokenizerIdentity
from runners.desk import Desk
from runners.endings import EXPECTED
from runners.engine.external.aliases import Attached
from runners.engine.external.serving import Build
from runners.engine.external.words import without_folders
from runners.environment import auto_dtype
from runners.job import Job
from runners.models.load import config_of, context_of, load_tokenizer, locate_model
from runners.prepare import each, encoded, selection_of
from runners.protocol.found import Found
from runners.protocol.preflight import check_memory, context_needed
from runners.protocol.second_model import SecondModel
from runners.protocol.unmeasurable import Unmeasurable
from runners.served.choice import Way, choose
from runners.served.models import native, read_by
from runners.workloads.tokenizers import identify

Made = TypeVar("Made")
# Entries of a slot beside a prompt, its answer and a draft, and the fewest of all: the text that shows whether an engine speculates has to fit.
ROOM, LEAST = 8, 512


@dataclass(frozen=True)
class Second(SecondModel):
    """The model that an engine drafts with beside the target; `file` is what it reads of it."""

    file: Path


@dataclass(frozen=True)
class Ready(Found):
    """What pre-flight found for one run. `file` is what the engine reads of the target, `context` what a slot has to hold."""

    way: Way
    file: Path
    dtype: Dtype
    context: int
    second: Second | None = None

    def fact(self, build: Build, *, plain: bool) -> PreflightFact:
        """`build` is what the speculative arm says of itself once it runs, `plain` whether there is a plain arm beside it."""
        alias, told = self.way.alias, self.told(self.dtype, self.second)
        attached = isinstance(alias, Attached)
        # A server's slots hold what they were made for, which is mostly far less than the model could.
        told["context_length"] = build.context
        told |= {name: native(told.get(name), alias) for name in ("quantisation", "drafter_quantisation")}
        return PreflightFact(
            **told,
            layers=int(config_of(self.located)["num_hidden_layers"]),
            parallel_layout="as served" if attached else "one device",
            drafter_memory=self.way.mode.memory,
            lossless=True,
            # llama-server's own default, whatever the weights are in.
            cache_dtype="float16" if alias.kind == "llama.cpp" else self.dtype,
            prefix_cache="unknown" if attached else "none",
            shared_cache="unknown" if attached else "no draft cache" if self.second is None else "not shared",
            batched_verification="unknown" if attached else "declared",
            engine_version=f"{build.engine} {build.version}" if build.version else build.engine,
            engine_build=build.version,
            engine_command=build.command,
            engine_arguments=tuple(map(without_folders, getattr(alias, "arguments", ()))),
            plain_arm=plain,
        )


def prepare(job: Job, device: torch.device, desk: Desk, machine: EnvironmentFact) -> dict[int, Ready]:
    """Empty when every run has ended; one that ends here is told of the `machine`. Raises Unmeasurable, and what locating a model raises."""
    spec = job.shared
    ways = each(desk, telling(desk, machine, lambda run: choose(job.specs[run], job.engines)))
    if not desk.open:
        return {}
    suite = selection_of(job)
    located = locate_model(spec.model, job.allowlist(), job.cache)
    tokenizer, identity, requests = encoded(spec, suite, located)

    def ready(run: int) -> Ready:
        own, way = job.specs[run], ways[run]
        second = None if way.mode.second is None else _second(way, way.mode.second, identity, job)
        context = context_needed(own, requests, way.speculative.longest_draft or 0, located)
        file, dtype = read_by(way.alias, own.model, located, job.cache), _dtype(own, way, device)
        slot = min(max(context + ROOM, LEAST), context_of(located))
        return Ready(own, located, tokenizer, identity, suite, requests, way, file, dtype, slot, second)

    readies = each(desk, telling(desk, machine, ready))
    if readies:
        check_memory(_needed(readies))
    return readies


def telling(desk: Desk, machine: EnvironmentFact, make: Callable[[int], Made]) -> Callable[[int], Made]:
    """`make`, which tells of the machine before a run ends for it: otherwise it is told when its servers are up, with what they took for that."""

    def told(run: int) -> Made:
        try:
            return make(run)
        except EXPECTED:
            desk.tell(run, machine)
            raise

    return told


def _second(way: Way, asked: ModelSource, target: TokenizerIdentity, job: Job) -> Second:
    located = locate_model(asked, job.allowlist(), job.cache)
    identity = identify(load_tokenizer(located), located.name)
    if identity.fingerprint != target.fingerprint:
        raise Unmeasurable(
            "tokenizers_differ",
            f"The drafter's model has another tokenizer than the target: {identity.name} ({identity.fingerprint[:12]}) and {target.name} "
            f"({target.fingerprint[:12]}). This engine does not translate between them; choose a model with the same one.",
        )
    return Second(located, identity, read_by(way.alias, asked, located, job.cache))


def _dtype(spec: RunSpec, way: Way, device: torch.device) -> Dtype:
    """llama.cpp computes in float32 between whatever its weights lie in; of a server that runs already only whoever started it knows."""
    asked = spec.model.dtype
    if way.alias.kind == "llama.cpp":
        if asked not in ("auto", "float32"):
            raise Unmeasurable("unfit_dtype", f"llama.cpp takes the weights of a GGUF file as they are; leave model.dtype out in place of {asked}.")
        return "float32"
    if asked == "auto" and isinstance(way.alias, Attached):
        raise Unmeasurable("dtype_unknown", "A server that runs already does not tell what it computes in; name that in model.dtype.")
    return auto_dtype(device) if asked == "auto" else asked


def _needed(readies: dict[int, Ready]) -> float:
    """Bytes of the weights of all servers that are started; what else a server takes is small beside them."""
    started = [ready for ready in readies.values() if not isinstance(ready.way.alias, Attached)]
    files = [ready.file for ready in started] + [ready.second.file for ready in started if ready.second is not None]
    return float(sum(map(_size, files + ([started[0].file] if started else []))))


def _size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else sum(each.stat().st_size for each in file.glob("*.safetensors"))
