"""The trials of a job (design: one run, step 5), whatever its load: blocks, their repetition, and facts when a trial is over."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from collections.abc import Sequence as Many
from dataclasses import replace
from typing import Any

from app.domain.bounds import Arm, Purpose
from app.domain.facts import AnyFact, ProgressFact, RequestFact, TrialFact
from runners.engine.sequence import Request
from runners.environment import Quiet, Watch
from runners.protocol.arms import Arms, Outcome, Prepared, Seat
from runners.protocol.forecast import Forecast
from runners.protocol.readings import Reader

# A fact and the run that it belongs to. What plain and control did is told to every run, each of which stands for itself.
Told = tuple[int, AnyFact]
CONTROL_ORDER = 2


class Trials(ABC):
    """A block holds each arm twice, in an order that cancels drift; how it does so is the load's matter."""

    def __init__(
        self,
        readies: Mapping[int, Prepared],
        bench: Arms,
        cores: list[int],
        tell: Callable[[int, AnyFact], None],
        watch: Callable[[list[int]], Watch] = Watch,
    ) -> None:
        """`readies` holds what pre-flight found for each run; all but drafter and controller is the same for all of them. `watch` says how quiet
        the cores were; a simulation has none."""
        self.ready = next(iter(readies.values()))
        self.bench, self.tell = bench, tell
        self._watch, self._cores = watch, cores
        self.reader = Reader(self.ready.tokenizer, self.ready.spec.language)
        self._prompts = {prompt.id: prompt for prompt in self.ready.prompts}
        self._done = 0
        self._seconds = 0.0
        spec = self.ready.spec
        self._forecasts = {run: Forecast(spec.load.regime, spec.load.concurrency, sampled=spec.sampling.temperature > 0) for run in bench.arms}
        self._half_widths: dict[int, float | None] = {}

    @property
    @abstractmethod
    def units_per_block(self) -> int:
        """Units of progress in a block: what `_advance` is called with adds up to this."""

    @abstractmethod
    def _block(self, block: int, planned: int) -> Iterator[Told]: ...

    @abstractmethod
    def losslessness(self) -> Iterator[Told]:
        """All arms once at the run's own load; only their ids are read from it."""

    @property
    def seconds(self) -> float:
        """What the headline's trials have taken so far."""
        return self._seconds

    def watch(self) -> Watch:
        """Begins to look at how quiet the measuring cores are."""
        return self._watch(self._cores)

    def requests(self, number: int) -> list[Request]:
        """What pass or pair `number` decodes: sampled answers draw with a seed of their own each time, greedy ones have no chance in them."""
        if self.ready.spec.sampling.temperature == 0:
            return self.ready.requests
        return [replace(request, seed=request.seed + number) for request in self.ready.requests]

    def headline(self) -> Iterator[Told]:
        """`trials` blocks. A block that others disturbed is repeated once, under a number of its own, and told to the runs that it was disturbed
        for: none has more undisturbed blocks than it asked for. What was disturbed stays in the facts and is not timed."""
        blocks = deque[tuple[int, frozenset[int] | None]]((block, None) for block in range(self.ready.spec.trials))
        planned = len(blocks)
        while blocks:
            block, readers = blocks.popleft()
            disturbed, seen = yield from self._watched(self._block(block, planned), readers)
            if disturbed and readers is None:
                blocks.appendleft((planned, frozenset(disturbed)))
                planned += 1
            self._foresee({run: facts for run, facts in seen.items() if run not in disturbed}, len(blocks))

    @staticmethod
    def _watched(told: Iterator[Told], readers: frozenset[int] | None) -> Generator[Told, None, tuple[set[int], dict[int, list[AnyFact]]]]:
        """Passes facts on to `readers`, None for all; returns the runs of which a trial was contended, and the facts by run."""
        disturbed, seen = set[int](), dict[int, list[AnyFact]]()
        for run, fact in told:
            if readers is not None and run not in readers:
                continue
            if isinstance(fact, TrialFact) and fact.contended:
                disturbed.add(run)
            seen.setdefault(run, []).append(fact)
            yield run, fact
        return disturbed, seen

    def _foresee(self, seen: Mapping[int, list[AnyFact]], more: int) -> None:
        """A block is over, of which each run can use what it has `seen`, and `more` will follow."""
        for run, forecast in self._forecasts.items():
            if run in seen:
                forecast.add(seen[run])
            self._half_widths[run] = forecast.half_width(more)

    def _advance(self, units: int, seconds: float, planned: int) -> None:
        """`units` more are done; they took `seconds`."""
        self._done += units
        self._seconds += seconds
        total = planned * self.units_per_block
        remaining = self._seconds / self._done * max(0, total - self._done)
        fact = ProgressFact(stage="trial", done=self._done, total=total, remaining=remaining, repeated=planned - self.ready.spec.trials)
        for run in self.bench.arms:
            self.tell(run, fact.model_copy(update={"half_width": self._half_widths.get(run)}))

    def _report(self, fact: AnyFact) -> None:
        for run in self.bench.arms:
            self.tell(run, fact)

    def _requests(self, outcomes: Many[Outcome], order: Many[Seat], purpose: Purpose, trial: int) -> Iterator[Told]:
        """Outcomes of arms that ran in this `order`, one after the other. To a run its own arm and plain are a pair, whoever else ran between."""
        for outcome in outcomes:
            for run in self.bench.readers_of(outcome.seat):
                place = CONTROL_ORDER if outcome.arm == "control" else place_of(order, run, outcome.seat)
                yield run, self._request(outcome, place, self.bench.arms[run].most, purpose, trial)

    def _request(self, outcome: Outcome, place: int, longest: int | None, purpose: Purpose, trial: int) -> RequestFact:
        prompt = self._prompts[outcome.sequence.request.prompt]
        return self.reader.fact(outcome, prompt, order=place, longest_draft=longest, purpose=purpose, trial=trial)

    def _trial(self, outcome: Outcome, work: Any, seconds: float, purpose: Purpose, trial: int, block: int, quiet: Quiet) -> Iterator[Told]:
        """The trial of an arm, of which `outcome` is any."""
        told = self.bench.told_of(outcome.arm, outcome.seat, work)
        fact = trial_fact(told, outcome.arm, seconds, purpose, trial, block, quiet)
        for run in self.bench.readers_of(outcome.seat):
            yield run, fact


def trial_fact(
    told: Mapping[str, Any], arm: Arm, seconds: float, purpose: Purpose, trial: int, block: int, quiet: Quiet, peak_bytes: int | None = None
) -> TrialFact:
    """What a trial of any purpose says of itself; `told` is what its arm says of its work."""
    return TrialFact(
        arm=arm,
        purpose=purpose,
        trial=trial,
        block=block,
        seconds=seconds,
        load_average=quiet.load_average,
        steal=quiet.steal,
        others=quiet.others,
        contended=quiet.contended,
        clock_mhz=quiet.clock_mhz,
        peak_bytes=peak_bytes,
        **told,
    )


def place_of(order: Many[Seat], run: int, seat: Seat) -> int:
    """0 or 1: which of the run's own arm and plain this is in time."""
    other: Seat = run if seat is None else None
    return int(order.index(seat) > order.index(other)) if other in order else 0
