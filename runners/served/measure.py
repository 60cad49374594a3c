"""A job on served engines, from its pre-flight to its last facts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch

from app.domain.facts import EnvironmentFact, ProgressFact
from runners.clock import Clock
from runners.cores import allowed
from runners.desk import Desk
from runners.endings import EXPECTED
from runners.engine.dice import key_of
from runners.engine.external.aliases import Alias, Attached
from runners.engine.external.answer import Ask
from runners.engine.external.engines.base import Engine, Setup
from runners.engine.families import is_recurrent
from runners.engine.sequence import Request
from runners.environment import Watch, describe, own_seconds, pick_device
from runners.job import Job
from runners.models.load import config_of
from runners.prepare import each
from runners.protocol.arms import Seat
from runners.protocol.kinds import KINDS
from runners.protocol.warmup import warm_up
from runners.served.bench import ServedBench
from runners.served.prepare import Ready, prepare, telling
from runners.served.server import Server

SEEDS = 2**31 - 1


def measure(job: Job, desk: Desk, logs: Path) -> None:
    """Raises one of EXPECTED where it concerns all runs. `logs` is where servers write; it goes with the job."""
    desk.tell_all(ProgressFact(stage="checking"))
    device = pick_device()
    machine = describe(device, list(job.cores))
    try:
        readies = prepare(job, device, desk, machine)
    except EXPECTED:
        desk.tell_all(machine)
        raise
    if not readies:
        return
    desk.tell_all(ProgressFact(stage="loading"))
    with opened(job, readies, desk, logs, machine) as bench:
        if bench.arms:
            run(job, {seat: readies[seat] for seat in bench.arms}, bench, desk)


def run(job: Job, readies: dict[int, Ready], bench: ServedBench, desk: Desk) -> None:
    """Warm-up and trials; the answers of the headline are what losslessness is judged by, since an engine shows no logits."""
    ready = next(iter(readies.values()))
    desk.tell_all(ProgressFact(stage="warming"))
    for number, warmth in warm_up(bench, ready.requests, job.shared.load.concurrency, job.warmup_seconds).items():
        desk.tell(number, warmth.fact)
    trials = KINDS[ready.spec.load.regime](readies, bench, list(job.cores), desk.tell, lambda cores: Watch(cores, spender(bench, cores)))
    for number, fact in trials.headline():
        desk.tell(number, fact)
    desk.tell_all(ProgressFact(stage="computing"))


def spender(bench: ServedBench, cores: list[int]) -> Callable[[], float]:
    """What the measurement takes of the cores: its servers, and this process where it has no core beside them."""
    beside = allowed().isdisjoint(cores)
    return lambda: bench.spent() + (0.0 if beside else own_seconds())


@contextmanager
def opened(job: Job, readies: dict[int, Ready], desk: Desk, logs: Path, machine: EnvironmentFact) -> Iterator[ServedBench]:
    """All servers, ready and known to speculate. A speculative one that does not come up ends its own run."""
    ready, clock = next(iter(readies.values())), Clock(torch.device("cpu"))
    setup = Setup(ready.file, 0, ready.spec.load.concurrency, max(found.context for found in readies.values()), job.cores, ready.dtype)
    servers: dict[Seat, Server] = {}
    if ready.way.plain is not None and ready.way.plain_alias is not None:
        servers[None] = _server(ready.way.plain, ready.way.plain_alias, setup, logs / "plain", clock, "plain arm")
    for number, found in readies.items():
        own = setup if found.second is None else replace(setup, draft=found.second.file)
        # A fault that ends all runs is told to all, so that those which are measured side by side say whose it is.
        arm = "speculative arm" + (f" ({found.way.mode.mode})" if len(readies) > 1 else "")
        servers[number] = _server(found.way.speculative, found.way.alias, own, logs / f"{number}", clock, arm)

    def asking(request: Request) -> Ask:
        spec = ready.spec
        # Equal seeds would draw alike for every prompt.
        seed = key_of(request.seed, request.prompt) % SEEDS
        return Ask(request.ids, spec.max_new_tokens, spec.sampling.temperature, seed, spec.stop, spec.ignore_eos, planned_at=request.planned_at)

    steps_told = not is_recurrent(config_of(ready.located))
    with ServedBench(servers, asking, clock, ready.requests[0].ids, steps_told=steps_told, wanted=desk.wanted) as bench:
        _begin(bench, readies, desk, machine)
        yield bench


def _begin(bench: ServedBench, readies: dict[int, Ready], desk: Desk, machine: EnvironmentFact) -> None:
    plain = bench.servers.get(None)
    if plain is not None:
        try:
            bench.run(_up(plain))
        except EXPECTED:
            desk.tell_all(machine)
            raise

    def up(number: int) -> None:
        server = bench.servers[number]
        bench.run(_up(server))
        taken = {"plain": None if plain is None else plain.seconds, "speculative": server.seconds}
        started = {f"{arm} arm ready after": f"{seconds:.2f} s" for arm, seconds in taken.items() if seconds is not None}
        desk.tell(number, machine.model_copy(update={"details": machine.details | started}))
        desk.tell(number, readies[number].fact(bench.run(server.build()), plain=plain is not None))

    started = each(desk, telling(desk, machine, up))
    for number in [number for number in bench.arms if number not in started]:
        bench.leave(number)


async def _up(server: Server) -> None:
    await server.start()
    await server.engine.check_speculation(server.client)


def _server(engine: Engine, alias: Alias, setup: Setup, log: Path, clock: Clock, arm: str) -> Server:
    return Server(engine, alias, None if isinstance(alias, Attached) else setup, log, clock, called=f"{engine.name} of the {arm}")
