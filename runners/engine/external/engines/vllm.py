"""vLLM, started by the runner out of a virtual environment of its own; options of 0.32.0."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import torch
from pydantic import Field, TypeAdapter, model_validator

from app.domain.outside import vllm as told
from app.domain.outside.reading import Engine as Kind
from app.domain.outside.reading import Reading
from runners.engine.external.aliases import Alias, VllmEnvironment
from runners.engine.external.answer import Answer, Ask
from runners.engine.external.client import Client, Posted
from runners.engine.external.engines.base import Engine, Few, Mode, Plain, Rounds, SecondModel, Setup, span
from runners.engine.external.faults import EngineFault
from runners.engine.external.ports import LOOPBACK
from runners.engine.external.process import Command
from runners.models.load import Located, cache_entry_bytes

# Tokens of a block of the cache on a CPU, and the blocks that a slot may take beside those of its context.
BLOCK, SPARE_BLOCKS = 128, 2

Length = Annotated[Few, Field(title="Draft length", description="tokens drafted in every round")]


class Ngram(Mode):
    summary = "copies what followed the same n-gram earlier in the text; no weights"
    mode: Literal["ngram"]
    tokens: Length = 4
    lookup_min: Annotated[Few, Field(title="Shortest n-gram", description="tokens that must match at least")] = 2
    lookup_max: Annotated[Few, Field(title="Longest n-gram", description="tried first")] = 3

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.lookup_min > self.lookup_max:
            raise ValueError("lookup_min is above lookup_max")
        return self


class DraftModel(Mode):
    """`acceptance` makes acceptance up: the mean number of tokens of a round, the target's own among them."""

    summary = "drafts with a second, smaller model that has a cache of its own"
    mode: Literal["draft-model"]
    model: SecondModel
    tokens: Length = 3
    acceptance: Annotated[
        Annotated[float, Field(ge=1, le=1025)] | None,
        Field(title="Made-up acceptance", description="mean tokens of a round; to test a measurement"),
    ] = None


Modes = Annotated[Plain | Ngram | DraftModel, Field(discriminator="mode")]


class Vllm(Engine):
    name: ClassVar[Kind] = "vllm"
    ways = (Ngram, DraftModel)
    modes = TypeAdapter(Modes)
    launched = True
    # Weights are read, memory is measured and several processes are started before it answers.
    ready_seconds = 600.0
    metrics = "/metrics"
    prefix = told.PREFIX
    unaltered = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}

    def command(self, alias: Alias, setup: Setup) -> Command:
        if not isinstance(alias, VllmEnvironment):
            raise EngineFault("engine_unfit", f"vLLM is started from an alias of its own kind, and not of kind {alias.kind}")
        serving = ("--host", LOOPBACK, "--port", str(setup.port), "--served-model-name", self.served_as)
        size = ("--max-model-len", str(setup.context), "--max-num-seqs", str(setup.slots), "--dtype", setup.dtype)
        # Both arms read every prompt whole, tell what each request took, and take no settings of sampling from the model's folder.
        alike = ("--no-enable-prefix-caching", "--enforce-eager", "--enable-per-request-metrics", "--generation-config", "vllm")
        if self.forced is not None and _for_processors(alias) is not None:
            # It would start, be ready, and die of the first request.
            raise EngineFault("engine_unfit", "vLLM makes up acceptance on a GPU alone, and this one is built for processors; leave acceptance out")
        program = alias.python.parent / "vllm"
        arguments = (str(program), "serve", str(setup.model), *serving, *size, *alike, *_speculation(self.mode, setup), *alias.arguments)
        return Command(arguments, _surroundings(alias, setup), setup.cores)

    @property
    def forced(self) -> str | None:
        return told.forced(config) if (config := _config(self.mode, None)) is not None else None

    @property
    def longest_draft(self) -> int | None:
        return getattr(self.mode, "tokens", None)

    def posted(self, ask: Ask) -> Posted:
        posted = super().posted(ask)
        # The prompt begins as it is to begin; a second token of beginning would make it another one.
        return Posted(posted.path, {**posted.body, "return_token_ids": True, "add_special_tokens": False})

    def reading(self, answer: Answer) -> Reading:
        return told.speculative_decoding(answer.body, forced=self.forced)

    def rounds(self, answer: Answer) -> Rounds | None:
        lists = told.by_step(answer.body)
        return None if lists is None else Rounds(*lists)

    def total(self, before: str, after: str, *, requests: int, prompt_steps: int | None = None) -> Reading:
        moved = self.moved(before, after, self.served_as)
        return told.counters(moved, prompt_steps=prompt_steps, forced=self.forced, plain_arm=isinstance(self.mode, Plain))

    async def version(self, client: Client) -> str | None:
        version = (await client.told("/version")).get("version")
        return version if isinstance(version, str) else None


def _surroundings(alias: VllmEnvironment, setup: Setup) -> dict[str, str]:
    """Without VLLM_HOST_IP its processes talk over the machine's own address."""
    fixed = {"VLLM_HOST_IP": LOOPBACK, "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1"}
    if (library := _for_processors(alias)) is None:
        return fixed
    room = {"VLLM_CPU_KVCACHE_SPACE": str(_cache_gib(setup)), "VLLM_CPU_OMP_THREADS_BIND": span(setup.cores)}
    return fixed | room | {"LD_PRELOAD": str(library)}


def _for_processors(alias: VllmEnvironment) -> Path | None:
    """The library of threads that builds for CPUs alone have; None where the environment is for a GPU."""
    library = alias.python.parent.parent / "lib" / "libiomp5.so"
    return library if library.exists() else None


def _cache_gib(setup: Setup) -> int:
    """Whole GiB in which the full context of every slot fits, of the draft model's too. A request that found no room would be taken back and begun
    anew, in one arm perhaps more often than in the other."""
    models = [model for model in (setup.model, setup.draft) if model is not None and (model / "config.json").is_file()]
    width = torch.float32 if setup.dtype in ("auto", "float32") else torch.float16
    entry = sum(cache_entry_bytes(Located(model, model.name, None, None, None), width) for model in models)
    blocks = -(-setup.context // BLOCK) + SPARE_BLOCKS
    return max(1, math.ceil(setup.slots * blocks * BLOCK * entry / 2**30))


def _config(mode: Mode, draft: str | None) -> Mapping[str, Any] | None:
    match mode:
        case Ngram():
            sizes = {"prompt_lookup_max": mode.lookup_max, "prompt_lookup_min": mode.lookup_min}
            return {"method": "ngram", "num_speculative_tokens": mode.tokens, **sizes}
        case DraftModel():
            made_up = {} if mode.acceptance is None else {"rejection_sample_method": "synthetic", "synthetic_acceptance_length": mode.acceptance}
            return {"method": "draft_model", "model": draft, "num_speculative_tokens": mode.tokens, **made_up}
        case _:
            return None


def _speculation(mode: Mode, setup: Setup) -> tuple[str, ...]:
    """The counts of single requests are refused by a server that does not speculate."""
    if isinstance(mode, DraftModel) and setup.draft is None:
        raise EngineFault("engine_unfit", "speculation with a draft model needs one")
    config = _config(mode, str(setup.draft))
    return () if config is None else ("--per-request-spec-decode-metrics", "detailed", "--speculative-config", json.dumps(config))
