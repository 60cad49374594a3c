"""Pre-flight of a job, and the bench that its runs are measured on. What one run alone gets wrong ends that run and no other."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import torch

from app.domain.spec import RunSpec
from app.domain.suite import Selection, selection
from app.domain.tokenizer import TokenizerIdentity
from runners.clock import Clock
from runners.desk import Desk
from runners.endings import EXPECTED, ending_of
from runners.engine.compiled import CompiledTarget
from runners.engine.compiler import keep_in
from runners.engine.dice import Chance
from runners.engine.families import check_family
from runners.engine.sequence import Request
from runners.engine.stops import StopRules
from runners.engine.targets import ModelTarget, target_of
from runners.engine.transformers_target import MARGIN
from runners.job import Job
from runners.models.load import Located, config_of, load_tokenizer, locate_model
from runners.models.shelf import Shelf, Shelved
from runners.parts import Chosen, choose
from runners.protocol.bench import Bench
from runners.protocol.control import Control
from runners.protocol.preflight import (
    Ready,
    check_arrivals,
    check_compiler,
    check_language,
    check_load,
    check_memory,
    check_recurrence,
    check_tokenizer,
    context_needed,
    encode,
    memory_needed,
    pick_dtype,
)
from runners.protocol.second_model import Second, companion_of, second_of
from runners.protocol.unmeasurable import Unmeasurable
from runners.workloads import suite as suites
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


def prepare(job: Job, device: torch.device, desk: Desk, shelf: Shelf) -> dict[int, Ready]:
    """Everything that can be refused before weights are loaded. Empty when every run has ended."""
    spec = job.shared
    chosen = each(desk, lambda run: choose(job.specs[run]))
    each(desk, lambda run: check_compiler(job.specs[run], device))
    if not desk.open:
        return {}
    if spec.compile:
        keep_in(job.cache / "compiled")
    suite = selection_of(job)
    located = locate_model(spec.model, job.allowlist(), job.cache)
    check_family(config_of(located))
    check_recurrence(spec, located)
    tokenizer, identity, requests = encoded(spec, suite, located)
    dtype = pick_dtype(spec, device)

    def ready(run: int) -> Ready:
        context = context_needed(job.specs[run], requests, chosen[run].control().longest, located)
        where = (job.allowlist(), job.cache)
        second = second_of(job.specs[run], chosen[run], identity, requests, context, tokenizer.decode, where)
        return Ready(job.specs[run], located, tokenizer, identity, suite, requests, chosen[run], dtype, context, second)

    readies = each(desk, ready)
    return _fitting(readies, device, desk, shelf) if readies else {}


def _fitting(readies: dict[int, Ready], device: torch.device, desk: Desk, shelf: Shelf) -> dict[int, Ready]:
    """The runs that fit into memory together: the target for all of them, and then each with the model that it drafts with."""
    shared = next(iter(readies.values()))
    spec, located, dtype, slots = shared.spec, shared.located, shared.dtype, shared.spec.load.concurrency
    shelf.make_room(located, dtype, device)
    context = max(found.context for found in readies.values())
    packed = _packed(spec, [found.chosen.control().longest for found in readies.values()])
    needed = memory_needed(located, dtype, slots, context, loaded=shelf.holds(located, dtype), packed=packed)
    check_memory(needed)
    there = {located.folder}

    def with_second(run: int) -> Ready:
        nonlocal needed
        second: Second | None = readies[run].second
        if second is not None:
            loaded = second.located.folder in there or shelf.holds(second.located, dtype)
            more = memory_needed(second.located, dtype, slots, second.context, loaded=loaded)
            check_memory(needed + more)
            needed += more
            there.add(second.located.folder)
        return readies[run]

    return each(desk, with_second)


def _rows(spec: RunSpec) -> tuple[int, ...]:
    """Batches to compile for: as many as may be in flight, and one where requests come as they like."""
    return tuple({1, spec.load.concurrency}) if spec.load.regime == "open" else (spec.load.concurrency,)


def _packed(spec: RunSpec, longest: list[int]) -> int:
    """How often the weights are laid out anew: for a plain step and each length of draft, in each batch."""
    return len(_rows(spec)) * (1 + len(set(longest))) if spec.compile else 0


def encoded(spec: RunSpec, suite: Selection, located: Located) -> tuple[Any, TokenizerIdentity, list[Request]]:
    """The model's own tokenizer, which tokenizer that is, and the prompts in its tokens."""
    tokenizer = load_tokenizer(located)
    identity = identify(tokenizer, located.name)
    check_tokenizer(spec, identity)
    return tokenizer, identity, encode(suite.prompts, tokenizer, spec)


def selection_of(job: Job) -> Selection:
    """The prompts of a job, which fit its load and are in its language."""
    spec = job.shared
    found = job.suite or selection(suites.load(spec.suite.id), spec.language, spec.suite)
    check_load(spec, found.prompts)
    check_arrivals(spec, found.prompts)
    check_language(spec, found.prompts)
    return found


def open_bench(readies: Mapping[int, Ready], dtype: torch.dtype, device: torch.device, desk: Desk, shelf: Shelf) -> Bench | None:
    """The target with all arms on it, in weights of `dtype`; None when every run has ended."""
    shared = next(iter(readies.values()))
    target, rules = _target(shelf.model(shared.located, dtype, device), readies)
    clock = Clock(device)

    def bound(run: int) -> Chosen:
        found = readies[run]
        companion = None if found.second is None else companion_of(found.second, target, found.tokenizer, dtype, shelf, found.chosen.columns)
        chosen = replace(found.chosen, companion=companion)
        if forced := chosen.bind(target, Chance(chosen.law)).forced():
            raise Unmeasurable("forced_acceptance", f"Acceptance would be forced: {forced}.")
        return chosen

    fitting = each(desk, bound)
    if not fitting:
        return None
    control = Control(target, rules, clock, shared.chosen.law) if shared.spec.controlled else None
    bench = Bench(target, fitting, rules, clock, desk.wanted, control)
    if isinstance(target, CompiledTarget):
        target.compile(bench.stretches())
    return bench


def _target(shelved: Shelved, readies: Mapping[int, Ready]) -> tuple[ModelTarget, StopRules]:
    ready = next(iter(readies.values()))
    spec = ready.spec
    own = ready.tokenizer.eos_token_id
    eos = frozenset() if spec.ignore_eos else shelved.ends | (frozenset() if own is None else {int(own)})
    context = max(found.context for found in readies.values())
    margin = max(MARGIN, *(found.chosen.columns for found in readies.values()))
    target = (
        CompiledTarget(shelved.model, slots=spec.load.concurrency, context=context, eos=eos, rows=_rows(spec))
        if spec.compile
        else target_of(shelved.model, slots=spec.load.concurrency, context=context, eos=eos, margin=margin)
    )
    return target, StopRules(spec.max_new_tokens, eos, spec.stop, ready.tokenizer.decode)
