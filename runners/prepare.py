"""Pre-flight of a job, and the bench that its runs are measured on. What one run alone gets wrong ends that run and no other."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import torch

from runners.clock import Clock
from runners.desk import Desk
from runners.endings import EXPECTED, ending_of
from runners.engine.dice import Chance
from runners.engine.families import check_family
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget
from runners.job import Job
from runners.models.load import Located, config_of, end_ids, load_tokenizer, load_weights, locate_model
from runners.parts import choose
from runners.protocol.bench import Bench
from runners.protocol.control import Control
from runners.protocol.preflight import (
    Ready,
    Unmeasurable,
    check_arrivals,
    check_language,
    check_load,
    check_memory,
    check_scope,
    check_tokenizer,
    context_needed,
    encode,
    pick_dtype,
)
from runners.workloads import suite as suites
from runners.workloads.suite import Prompt, Suite
from runners.workloads.tokenizers import identify

Made = TypeVar("Made")


def each(desk: Desk, make: Callable[[int], Made]) -> dict[int, Made]:
    """What `make` gives for every open run; a run for which it refuses ends with that sentence."""
    made = {}
    for run in desk.open:
        try:
            made[run] = make(run)
        except EXPECTED as error:
            desk.end(run, ending_of(error))
    return made


def prepare(job: Job, device: torch.device, desk: Desk) -> dict[int, Ready]:
    """Everything that can be refused before weights are loaded. Empty when every run has ended."""
    spec = job.shared
    chosen = each(desk, lambda run: choose(job.specs[run]))
    each(desk, lambda run: check_scope(job.specs[run]))
    if not desk.open:
        return {}
    suite, prompts = _prompts(job)
    located = locate_model(spec.model, job.allowlist(), job.cache)
    check_family(config_of(located))
    tokenizer = load_tokenizer(located)
    identity = identify(tokenizer, located.name)
    check_tokenizer(spec, identity)
    dtype = pick_dtype(spec, device)
    requests = encode(prompts, tokenizer, spec)

    def ready(run: int) -> Ready:
        context = context_needed(job.specs[run], requests, chosen[run].control().longest, located)
        return Ready(job.specs[run], chosen[run], located, tokenizer, identity, suite, prompts, requests, dtype, context)

    readies = each(desk, ready)
    if readies:
        check_memory(located, dtype, spec.load.concurrency, max(found.context for found in readies.values()))
    return readies


def _prompts(job: Job) -> tuple[Suite, tuple[Prompt, ...]]:
    spec = job.shared
    suite = suites.load(spec.suite.id)
    prompts = suites.select(suite, spec.language, spec.suite.profiles, spec.suite.limit)
    check_load(spec, prompts)
    check_arrivals(spec, prompts)
    check_language(spec, prompts)
    return suite, tuple(prompts)


def open_bench(readies: Mapping[int, Ready], dtype: torch.dtype, device: torch.device, desk: Desk) -> Bench | None:
    """The target with all arms on it, in weights of `dtype`; None when every run has ended."""
    shared = next(iter(readies.values()))
    target, rules = _target(shared.located, dtype, device, readies)
    clock = Clock(device)

    def bound(run: int) -> None:
        if forced := readies[run].chosen.bind(target, Chance()).forced():
            raise Unmeasurable("forced_acceptance", f"Acceptance would be forced: {forced}.")

    fitting = each(desk, bound)
    if not fitting:
        return None
    control = Control(target, rules, clock, shared.chosen.law)
    return Bench(target, {run: readies[run].chosen for run in fitting}, rules, clock, desk.wanted, control)


def _target(located: Located, dtype: torch.dtype, device: torch.device, readies: Mapping[int, Ready]) -> tuple[TransformersTarget, StopRules]:
    ready = next(iter(readies.values()))
    spec, model = ready.spec, load_weights(located, dtype, device)
    eos = frozenset() if spec.ignore_eos else end_ids(model, ready.tokenizer)
    context = max(found.context for found in readies.values())
    target = TransformersTarget(model, slots=spec.load.concurrency, context=context, eos=eos)
    return target, StopRules(spec.max_new_tokens, eos, spec.stop, ready.tokenizer.decode)
