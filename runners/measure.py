"""The child process: measures the runs of a job and writes facts to their spools. It holds no credential and knows no address.

`python -m runners.measure FOLDER` measures the job in FOLDER. `python -m runners.measure --attached` reads one folder a line from standard input,
measures each and keeps the models that it has loaded. `python -m runners.measure --offer` prints what this machine can do.
"""

import os
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import torch
import transformers

from app.domain.facts import ProgressFact
from runners import probe
from runners.cores import beside
from runners.desk import Desk
from runners.endings import EXPECTED, MEASURED, ending_of
from runners.environment import describe, pick_device, pin
from runners.job import Job
from runners.models.shelf import Shelf
from runners.prepare import each, open_bench, prepare
from runners.probe_job import JOB
from runners.protocol.bench import Bench
from runners.protocol.kinds import KINDS
from runners.protocol.oracle import judged
from runners.protocol.preflight import Ready
from runners.protocol.profile import Profile
from runners.protocol.trials import Told, Trials
from runners.protocol.unmeasurable import Unmeasurable
from runners.protocol.warmup import Warmth, warm_up
from runners.served import measure as served

INACTIVE = "Speculation was not active: the warm-up drafted nothing, although this drafter always drafts."


def trials_of(readies: dict[int, Ready], bench: Bench, cores: list[int], desk: Desk) -> Trials:
    ready = next(iter(readies.values()))
    kind = KINDS[ready.spec.load.regime]
    return kind(readies, bench, cores, desk.tell)


def measure(job: Job, desk: Desk, shelf: Shelf) -> None:
    """All runs of a job from pre-flight to their last facts. Raises one of EXPECTED where it concerns them all."""
    device, cores = pick_device(), list(job.cores)
    desk.tell_all(describe(device, cores))
    desk.tell_all(ProgressFact(stage="checking"))
    readies = prepare(job, device, desk, shelf)
    if not readies:
        return
    desk.tell_all(ProgressFact(stage="loading"))
    dtype = next(iter(readies.values())).dtype
    bench = open_bench(readies, dtype, device, desk, shelf)
    if bench is None:
        return
    for run in desk.open:
        desk.tell(run, readies[run].fact(bench.target.layers, f"bezmen loop on transformers {transformers.__version__}", bench.target.compiled))
    if not warm(job, readies, bench, desk):
        return
    trials = trials_of(readies, bench, cores, desk)
    say(judged(trials, bench.target, trials.headline()), desk)
    say(learned(bench), desk)
    say(Profile(trials.ready, bench, cores, trials.seconds).run(), desk)
    if dtype != torch.float32 and job.shared.sampling.temperature == 0:
        # Batched and single forwards differ in half precision; whether the rule is lossless shows in float32 (methods: losslessness).
        del bench, trials
        check = open_bench(readies, torch.float32, device, desk, shelf)
        if check is not None:
            exact = trials_of(readies, check, cores, desk)
            say(judged(exact, check.target, exact.losslessness()), desk)
    desk.tell_all(ProgressFact(stage="computing"))


def learned(bench: Bench) -> Iterator[Told]:
    """What drafters came to in the last pass; the next one begins without it."""
    for run, arm in bench.arms.items():
        if (fact := arm.drafter.learned()) is not None:
            yield run, fact


def say(told: Iterator[Told], desk: Desk) -> None:
    for run, fact in told:
        desk.tell(run, fact)


def warm(job: Job, readies: dict[int, Ready], bench: Bench, desk: Desk) -> bool:
    """Warms up; False when no run is left that drafts."""
    desk.tell_all(ProgressFact(stage="warming"))
    ready = next(iter(readies.values()))
    found = warm_up(bench, ready.requests, job.shared.load.concurrency, job.warmup_seconds)

    def active(run: int) -> None:
        warmth: Warmth = found[run]
        desk.tell(run, warmth.fact)
        if readies[run].chosen.drafter.always_drafts and warmth.drafted == 0:
            raise Unmeasurable("speculation_not_active", INACTIVE)

    return bool(each(desk, active))


def take_orders(folders: SimpleQueue[Path | None]) -> None:
    """Standard input is a pipe that the parent holds; when the parent is gone, however it went, the pipe ends and so does this process."""
    last: Path | None = None
    for line in sys.stdin:
        last = Path(line.rstrip("\n"))
        folders.put(last)
    if last is not None:
        # A parent that was killed cleans nothing up, and the prompts may be private.
        shutil.rmtree(last, ignore_errors=True)
    os._exit(1)


def work(folder: Path, stopped: threading.Event, shelf: Shelf) -> None:
    """One job, to the last word on each of its runs. Any error that is nobody's but ours goes on."""
    if (folder / JOB).exists():
        probe.work(folder, shelf)
        return
    job = Job.read(folder)
    pin(beside(list(job.cores)) if job.served else list(job.cores))
    torch.manual_seed(job.shared.sampling.seed)
    desk = Desk(folder, len(job.specs), stopped.is_set, private=job.private)
    try:
        if job.served:
            served.measure(job, desk, folder / "engines")
        else:
            measure(job, desk, shelf)
    except EXPECTED as error:
        desk.end_all(ending_of(error))
    else:
        desk.end_all(MEASURED)


def main(folder: Path | None) -> None:
    folders: SimpleQueue[Path | None] = SimpleQueue()
    stopped, shelf = threading.Event(), Shelf()

    def stop(*_: object) -> None:
        stopped.set()
        folders.put(None)

    signal.signal(signal.SIGTERM, stop)
    if folder is None:
        threading.Thread(target=take_orders, args=(folders,), daemon=True).start()
    else:
        folders.put(folder)
        folders.put(None)
    try:
        while not stopped.is_set() and (given := folders.get()) is not None:
            work(given, stopped, shelf)
    except Exception:
        # The thread that waits for the parent would turn an ordinary exit into an abort, and that would be the last word.
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    if folder is None:
        os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "--offer":
        from runners.offer import machine

        sys.stdout.write(machine(Path(sys.argv[2])).model_dump_json(by_alias=True) + "\n")
    else:
        main(None if sys.argv[1] == "--attached" else Path(sys.argv[1]))
