"""The trials of one run (design: one run, step 5), whatever its load: blocks, their repetition, and facts when a trial is over."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator
from collections.abc import Sequence as Many
from dataclasses import replace

from app.domain.facts import AnyFact, Arm, ProgressFact, Purpose, TrialFact
from runners.engine.loop import Counters
from runners.engine.sequence import Request
from runners.environment import Quiet
from runners.protocol.bench import Bench, Outcome
from runners.protocol.preflight import Ready
from runners.protocol.readings import Reader


class Trials(ABC):
    """A block holds each arm twice, in an order that cancels drift; how it does so is the load's matter."""

    def __init__(self, ready: Ready, bench: Bench, cores: list[int], report: Callable[[AnyFact], None]) -> None:
        self.ready, self.bench, self.cores, self.report = ready, bench, cores, report
        self.reader = Reader(ready.tokenizer, ready.spec.language, bench.longest)
        self._prompts = {prompt.id: prompt for prompt in ready.prompts}
        self._done = 0
        self._seconds = 0.0

    @property
    @abstractmethod
    def units_per_block(self) -> int:
        """Units of progress in a block: what `_advance` is called with adds up to this."""

    @abstractmethod
    def _block(self, block: int, planned: int) -> Iterator[AnyFact]: ...

    @abstractmethod
    def losslessness(self) -> Iterator[AnyFact]:
        """Both arms once at the run's own load; only their ids are read from it."""

    def requests(self, number: int) -> list[Request]:
        """What pass or pair `number` decodes: sampled answers draw with a seed of their own each time, greedy ones have no chance in them."""
        if self.ready.spec.sampling.temperature == 0:
            return self.ready.requests
        return [replace(request, seed=request.seed + number) for request in self.ready.requests]

    def headline(self) -> Iterator[AnyFact]:
        """`trials` ABBA blocks. A block that others disturbed is repeated once, under a number of its own; what was disturbed stays in the facts
        and is not timed."""
        blocks = deque((block, True) for block in range(self.ready.spec.trials))
        planned = len(blocks)
        while blocks:
            block, may_repeat = blocks.popleft()
            disturbed = yield from self._watched(self._block(block, planned))
            if disturbed and may_repeat:
                blocks.appendleft((planned, False))
                planned += 1

    @staticmethod
    def _watched(facts: Iterator[AnyFact]) -> Generator[AnyFact, None, bool]:
        """Passes facts on; returns whether a trial among them was contended."""
        disturbed = False
        for fact in facts:
            disturbed |= isinstance(fact, TrialFact) and fact.contended
            yield fact
        return disturbed

    def _advance(self, units: int, seconds: float, planned: int) -> None:
        """`units` more are done; they took `seconds`."""
        self._done += units
        self._seconds += seconds
        total = planned * self.units_per_block
        remaining = self._seconds / self._done * max(0, total - self._done)
        self.report(ProgressFact(stage="trial", done=self._done, total=total, remaining=remaining, repeated=planned - self.ready.spec.trials))

    def _facts(self, outcomes: Many[Outcome], purpose: Purpose, trial: int) -> Iterator[AnyFact]:
        for outcome in outcomes:
            yield self.reader.fact(outcome, self._prompts[outcome.sequence.request.prompt], purpose=purpose, trial=trial)

    def _trial(self, arm: Arm, work: Counters, seconds: float, purpose: Purpose, trial: int, block: int, quiet: Quiet) -> TrialFact:
        return TrialFact(
            arm=arm,
            purpose=purpose,
            trial=trial,
            block=block,
            seconds=seconds,
            forwards=work.forwards,
            slot_steps=work.slot_steps,
            load_average=quiet.load_average,
            steal=quiet.steal,
            others=quiet.others,
            contended=quiet.contended,
            clock_mhz=quiet.clock_mhz,
            weight_bytes=self.bench.target.weight_bytes,
            cache_bytes=self.bench.target.cache_bytes,
        )
