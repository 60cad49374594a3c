"""The trials of one run at load 1 (design: one run, step 5)."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from collections.abc import Sequence as Many
from typing import Literal

from app.domain.facts import AnyFact, Arm, ProgressFact, Purpose, TrialFact
from runners.environment import Quiet, Watch
from runners.protocol.bench import Bench, Outcome
from runners.protocol.order import plain_first
from runners.protocol.preflight import Ready
from runners.protocol.readings import Reader

PASSES = 2
ARMS: tuple[Arm, ...] = ("plain", "speculative", "control")


class Trials:
    """Runs passes over the prompts and turns each into facts when it is over."""

    def __init__(self, ready: Ready, bench: Bench, cores: list[int], report: Callable[[AnyFact], None]) -> None:
        self.ready, self.bench, self.cores, self.report = ready, bench, cores, report
        self.reader = Reader(ready.tokenizer, ready.spec.language, bench.longest)
        self._pass_seconds: list[float] = []

    def headline(self) -> Iterator[AnyFact]:
        """`trials` ABBA blocks: every prompt by both arms back to back, then once more with each pair's order swapped.

        A block that others disturbed is repeated once, under a number of its own; what was disturbed stays in the facts and is not timed.
        """
        blocks = deque((block, True) for block in range(self.ready.spec.trials))
        planned = len(blocks)
        while blocks:
            block, may_repeat = blocks.popleft()
            disturbed = yield from self._block(block, planned)
            if disturbed and may_repeat:
                blocks.appendleft((planned, False))
                planned += 1

    def _block(self, block: int, planned: int) -> Generator[AnyFact, None, bool]:
        """Both passes of a block; returns whether either was contended."""
        disturbed = False
        for second in range(PASSES):
            order = plain_first(len(self.ready.requests), self.ready.spec.sampling.seed, block, bool(second))
            for fact in self._pass(order, bool(second), "headline", block * PASSES + second, block, planned * PASSES):
                disturbed |= isinstance(fact, TrialFact) and fact.contended
                yield fact
        return disturbed

    def losslessness(self) -> Iterator[AnyFact]:
        """One pass of both arms that only their ids are read from."""
        yield from self._pass([True] * len(self.ready.requests), None, "losslessness", 0, 0, 1)

    def _pass(self, order: Many[bool], control_first: bool | None, purpose: Purpose, trial: int, block: int, total: int) -> Iterator[AnyFact]:
        stage: Literal["trial", "losslessness"] = "trial" if purpose == "headline" else "losslessness"
        watch, outcomes = Watch(self.cores), []
        for index, group in enumerate(self.bench.groups(self.ready.requests, order, control_first)):
            outcomes.append(group)
            done = len(self._pass_seconds) * len(self.ready.requests) + index + 1
            self.report(ProgressFact(stage=stage, done=done, total=total * len(self.ready.requests), remaining=self._remaining(done, total)))
        quiet, seconds = watch.read(), self.bench.clock.now()
        self._pass_seconds.append(seconds)
        for arm in ARMS:
            own = [outcome for group in outcomes for outcome in group if outcome.arm == arm]
            if own:
                yield self._trial(arm, own, purpose, trial, block, quiet)
        for prompt, group in zip(self.ready.prompts, outcomes, strict=True):
            for outcome in group:
                yield self.reader.fact(outcome, prompt, purpose=purpose, trial=trial)

    def _remaining(self, done: int, total: int) -> float | None:
        each = self.bench.clock.now() if not self._pass_seconds else None
        prompts = len(self.ready.requests)
        per_prompt = sum(self._pass_seconds) / (len(self._pass_seconds) * prompts) if self._pass_seconds else (each or 0.0) / max(1, done)
        return max(0.0, per_prompt * (total * prompts - done))

    def _trial(self, arm: Arm, outcomes: Many[Outcome], purpose: Purpose, trial: int, block: int, quiet: Quiet) -> TrialFact:
        return TrialFact(
            arm=arm,
            purpose=purpose,
            trial=trial,
            block=block,
            seconds=sum(o.sequence.step_end[-1] - o.sequence.sent_at for o in outcomes),
            forwards=sum(o.forwards for o in outcomes),
            slot_steps=sum(o.slot_steps for o in outcomes),
            load_average=quiet.load_average,
            steal=quiet.steal,
            others=quiet.others,
            contended=quiet.contended,
            clock_mhz=quiet.clock_mhz,
            weight_bytes=self.bench.target.weight_bytes,
            cache_bytes=self.bench.target.cache_bytes,
        )
