"""The profiled trial: what a proposal, a verification and a plain step take by the shape of the batch, and what memory each arm needs."""

from collections.abc import Iterator
from collections.abc import Sequence as Many

from app.domain.facts import ProgressFact
from app.domain.observations import CostFact
from runners.engine.profiled import ProfiledLoop
from runners.engine.sequence import Request
from runners.environment import Quiet, Watch
from runners.memory import Peak
from runners.protocol.arms import Prepared, Seat, arm_of
from runners.protocol.bench import Bench
from runners.protocol.trials import Told, trial_fact

# Of the headline's seconds, and seconds: the trial ends with the first round of all arms that exceeds either.
SHARE, MOST = 0.15, 20.0
# Entries that a fact may hold.
ENTRIES = 4096


class Profile:
    """All arms over the same prompts, turn by turn, so that a drift of the machine meets them alike: a prompt a turn at load 1, else twice as many as
    are in flight. It takes at most one pass, at least one turn, and in between as long as `seconds` allows. Under an open load requests do not
    wait for arrivals here. A trial that others disturbed is made once more, and its times are told only where it was not disturbed again."""

    def __init__(self, ready: Prepared, bench: Bench, cores: list[int], seconds: float) -> None:
        self.bench, self.cores = bench, cores
        self.requests, self.concurrency = ready.requests, ready.spec.load.concurrency
        self.seconds = min(SHARE * seconds, MOST)

    def run(self) -> Iterator[Told]:
        for trial in range(2):
            yield from self._report(ProgressFact(stage="profile", done=trial, total=trial + 1))
            loops, peaks, seconds, quiet = self._measure()
            for seat, loop in loops.items():
                told = self.bench.told_of(arm_of(seat), seat, loop.counters)
                fact = trial_fact(told, arm_of(seat), seconds[seat], "profile", trial, trial, quiet, peaks[seat])
                for run in self.bench.readers_of(seat):
                    yield run, fact
            if not quiet.contended:
                yield from self._costs(loops)
                return

    def _measure(self) -> tuple[dict[Seat, ProfiledLoop], dict[Seat, int | None], dict[Seat, float], Quiet]:
        watch, peak, clock = Watch(self.cores), Peak(self.bench.target.device), self.bench.clock
        loops = {seat: ProfiledLoop.of(self.bench.loop(seat)) for seat in self.bench.seats()}
        marks: dict[Seat, list[int]] = {seat: [] for seat in loops}
        seconds: dict[Seat, float] = dict.fromkeys(loops, 0.0)
        abandoned = self.bench.unwanted(None)
        self.bench.reset()
        for turn in self._turns():
            for seat, loop in loops.items():
                began = clock.now()
                peak.reset()
                loop.run(turn, self.concurrency, cancelled=abandoned)
                clock.settle()
                if (mark := peak.bytes()) is not None:
                    # A second model lies in memory while other arms decode, and is not their need.
                    marks[seat].append(mark - self.bench.idle_bytes(seat))
                seconds[seat] += clock.now() - began
            self.bench.live()
            if clock.now() > self.seconds:
                break
        return loops, {seat: max(seen, default=None) for seat, seen in marks.items()}, seconds, watch.read()

    def _turns(self) -> list[Many[Request]]:
        size = 1 if self.concurrency == 1 else 2 * self.concurrency
        return [self.requests[at : at + size] for at in range(0, len(self.requests), size)]

    def _costs(self, loops: dict[Seat, ProfiledLoop]) -> Iterator[Told]:
        for seat, loop in loops.items():
            for (stage, sequences, tokens), times in sorted(loop.times.items()):
                for at in range(0, len(times), ENTRIES):
                    fact = CostFact(stage=stage, sequences=sequences, tokens=tokens, seconds=tuple(times[at : at + ENTRIES]))
                    for run in self.bench.readers_of(seat):
                        yield run, fact

    def _report(self, fact: ProgressFact) -> Iterator[Told]:
        for run in self.bench.arms:
            yield run, fact
