"""Load 1: every prompt by plain and speculative back to back, the order swapped in the next pass (definitions § 3)."""

from collections.abc import Iterator

from app.domain.facts import AnyFact, Arm, ProgressFact, Purpose
from runners.engine.loop import Counters
from runners.environment import Watch
from runners.protocol.bench import Outcome
from runners.protocol.order import plain_first
from runners.protocol.trials import Trials

PASSES = 2
ARMS: tuple[Arm, ...] = ("plain", "speculative", "control")


class PairedTrials(Trials):
    """A block is two passes over the prompts; a trial is one arm's share of a pass."""

    @property
    def units_per_block(self) -> int:
        return PASSES * len(self.ready.requests)

    def _block(self, block: int, planned: int) -> Iterator[AnyFact]:
        for second in range(PASSES):
            order = plain_first(len(self.ready.requests), self.ready.spec.sampling.seed, block, bool(second))
            watch, outcomes, before = Watch(self.cores), [], 0.0
            for group in self.bench.groups(self.requests(block * PASSES + second), order, control_first=bool(second)):
                outcomes.append(group)
                now = self.bench.clock.now()
                self._advance(1, now - before, planned)
                before = now
            yield from self._read(outcomes, watch, "headline", block * PASSES + second, block)

    def losslessness(self) -> Iterator[AnyFact]:
        watch, outcomes, total = Watch(self.cores), [], len(self.ready.requests)
        for group in self.bench.groups(self.ready.requests, [True] * total, control_first=None):
            outcomes.append(group)
            self.report(ProgressFact(stage="losslessness", done=len(outcomes), total=total))
        yield from self._read(outcomes, watch, "losslessness", 0, 0)

    def _read(self, groups: list[tuple[Outcome, ...]], watch: Watch, purpose: Purpose, trial: int, block: int) -> Iterator[AnyFact]:
        quiet = watch.read()
        for arm in ARMS:
            own = [outcome for group in groups for outcome in group if outcome.arm == arm]
            if own:
                seconds = sum(o.sequence.step_end[-1] - o.sequence.sent_at for o in own)
                work = Counters(sum(o.forwards for o in own), sum(o.slot_steps for o in own))
                yield self._trial(arm, work, seconds, purpose, trial, block, quiet)
        for group in groups:
            yield from self._facts(group, purpose, trial)
