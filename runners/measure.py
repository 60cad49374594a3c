"""The child process: measures one run and writes facts to its spool folder. It holds no credential and knows no address.

`python -m runners.measure FOLDER` measures the job in FOLDER; `python -m runners.measure --offer` prints what this machine can do.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import torch
import transformers

from app.domain.facts import AnyFact, FinishFact, ProgressFact
from runners.clock import Clock
from runners.drafters.base import UnfitDrafter
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget, UnsupportedModel
from runners.environment import describe, pick_device, pin
from runners.job import Job
from runners.models.allowlist import ModelRefused
from runners.models.load import NoSuchModel, end_ids, load_tokenizer, load_weights, locate_model
from runners.models.package import NoWeights
from runners.parts import UnknownPart, choose
from runners.protocol.bench import Bench, Cancelled
from runners.protocol.closed import ClosedTrials
from runners.protocol.control import Control
from runners.protocol.paired import PairedTrials
from runners.protocol.preflight import (
    Ready,
    Unmeasurable,
    check_language,
    check_load,
    check_memory,
    check_scope,
    check_tokenizer,
    context_needed,
    encode,
    pick_dtype,
)
from runners.protocol.spool import Spool
from runners.protocol.trials import Trials
from runners.protocol.warmup import warm_up
from runners.workloads import suite as suites
from runners.workloads.tokenizers import NoFastTokenizer, identify

CODES: dict[type[Exception], str] = {
    UnknownPart: "unknown_part",
    UnfitDrafter: "unfit_drafter",
    UnsupportedModel: "unsupported_model",
    ModelRefused: "model_refused",
    NoWeights: "no_weights",
    NoSuchModel: "no_such_model",
    NoFastTokenizer: "no_fast_tokenizer",
    suites.SuiteError: "suite_refused",
}


def prepare(job: Job, device: torch.device) -> Ready:
    """Pre-flight: everything that can be refused before weights are loaded."""
    spec = job.spec
    chosen = choose(spec)
    check_scope(spec, chosen)
    suite = suites.load(spec.suite.id)
    prompts = suites.select(suite, spec.language, spec.suite.profiles, spec.suite.limit)
    check_load(spec, prompts)
    check_language(spec, prompts)
    located = locate_model(spec.model, job.allowlist(), job.cache)
    tokenizer = load_tokenizer(located)
    identity = identify(tokenizer, located.name)
    check_tokenizer(spec, identity)
    dtype = pick_dtype(spec, device)
    requests = encode(prompts, tokenizer, spec)
    context = context_needed(spec, requests, chosen.control().longest, located)
    check_memory(located, dtype, spec.load.concurrency, context)
    return Ready(spec, chosen, located, tokenizer, identity, suite, prompts, requests, dtype, context)


def open_bench(ready: Ready, dtype: torch.dtype, device: torch.device, cancelled: Callable[[], bool]) -> Bench:
    model = load_weights(ready.located, dtype, device)
    eos = frozenset() if ready.spec.ignore_eos else end_ids(model, ready.tokenizer)
    target = TransformersTarget(model, slots=ready.spec.load.concurrency, context=ready.context, eos=eos)
    rules = StopRules(ready.spec.max_new_tokens, eos, ready.spec.stop, ready.tokenizer.decode)
    clock = Clock(device)
    return Bench(target, ready.chosen, rules, clock, cancelled, Control(target, rules, clock))


def trials_of(ready: Ready, bench: Bench, cores: list[int], report: Callable[[AnyFact], None]) -> Trials:
    kind = PairedTrials if ready.spec.load.concurrency == 1 else ClosedTrials
    return kind(ready, bench, cores, report)


def measure(job: Job, report: Callable[[AnyFact], None], cancelled: Callable[[], bool]) -> None:
    """One run from pre-flight to its last fact. Raises one of CODES, Unmeasurable or Cancelled."""
    device = pick_device()
    report(describe(device, list(job.cores)))
    report(ProgressFact(stage="checking"))
    ready = prepare(job, device)
    report(ProgressFact(stage="loading"))
    bench = open_bench(ready, ready.dtype, device, cancelled)
    if forced := bench.drafter.forced():
        raise Unmeasurable("forced_acceptance", f"Acceptance would be forced: {forced}.")
    report(ready.fact(bench.target.layers, f"bezmen loop on transformers {transformers.__version__}"))
    report(ProgressFact(stage="warming"))
    warmth, drafted = warm_up(bench, ready.requests, ready.spec.load.concurrency, job.warmup_seconds)
    report(warmth)
    if ready.chosen.drafter.always_drafts and drafted == 0:
        raise Unmeasurable("speculation_not_active", "Speculation was not active: the warm-up drafted nothing, although this drafter always drafts.")
    for fact in trials_of(ready, bench, list(job.cores), report).headline():
        report(fact)
    if ready.dtype != torch.float32:
        # Batched and single forwards differ in half precision; whether the rule is lossless shows in float32 (methods: losslessness).
        del bench
        check = open_bench(ready, torch.float32, device, cancelled)
        for fact in trials_of(ready, check, list(job.cores), report).losslessness():
            report(fact)
    report(ProgressFact(stage="computing"))


def outcome_of(job: Job, report: Callable[[AnyFact], None], cancelled: Callable[[], bool]) -> FinishFact:
    """Measures and says how it ended; an unexpected error is raised, so that its last words reach the log."""
    try:
        measure(job, report, cancelled)
    except Cancelled:
        return FinishFact(outcome="cancelled", code="cancelled", reason="The run was cancelled.")
    except Unmeasurable as error:
        return FinishFact(outcome="failed", code=error.code, reason=str(error)[:2000])
    except tuple(CODES) as error:
        return FinishFact(outcome="failed", code=CODES[type(error)], reason=str(error)[:2000])
    except torch.OutOfMemoryError as error:
        return FinishFact(outcome="failed", code="out_of_memory", reason=f"The device ran out of memory: {error}"[:2000])
    return FinishFact(outcome="succeeded", code="measured")


def end_with_parent() -> None:
    """Standard input is a pipe that the parent holds; when the parent is gone, however it went, the pipe ends and so does this process."""
    sys.stdin.buffer.read()
    os._exit(1)


def main(folder: Path, attached: bool) -> None:
    job = Job.read(folder)
    if attached:
        threading.Thread(target=end_with_parent, daemon=True).start()
    pin(list(job.cores))
    torch.manual_seed(job.spec.sampling.seed)
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    spool = Spool(folder)
    spool.write(outcome_of(job, spool.write, stopped.is_set))
    spool.close()


if __name__ == "__main__":
    if sys.argv[1] == "--offer":
        from runners.offer import offer

        sys.stdout.write(offer(Path(sys.argv[2])).model_dump_json(by_alias=True) + "\n")
    else:
        main(Path(sys.argv[1]), attached="--attached" in sys.argv)
