"""Load 1: every prompt by all arms back to back, the order turned round in the next pass (definitions § 3)."""

from collections.abc import Iterator
from collections.abc import Sequence as Many
from typing import Any

from app.domain.bounds import Purpose
from app.domain.facts import ProgressFact
from runners.environment import Watch
from runners.protocol.arms import Outcome, Seat
from runners.protocol.order import orders
from runners.protocol.trials import Told, Trials

PASSES = 2


class PairedTrials(Trials):
    """A block is two passes over the prompts; a trial is one arm's share of a pass."""

    @property
    def units_per_block(self) -> int:
        return PASSES * len(self.ready.requests)

    def _block(self, block: int, planned: int) -> Iterator[Told]:
        for second in range(PASSES):
            seats = self.bench.seats()
            places = orders(len(self.ready.requests), len(seats), self.ready.spec.sampling.seed, block, bool(second))
            order = [[seats[place] for place in row] for row in places]
            self.bench.renew(seats)
            watch, groups, before = self.watch(), [], 0.0
            for group in self.bench.groups(self.requests(block * PASSES + second), order, control_first=bool(second)):
                groups.append(group)
                now = self.bench.clock.now()
                self._advance(1, now - before, planned)
                before = now
            yield from self._read(groups, order, watch, "headline", block * PASSES + second, block)

    def losslessness(self) -> Iterator[Told]:
        watch, groups, total, seats = self.watch(), [], len(self.ready.requests), self.bench.seats()
        order = [seats] * total
        for group in self.bench.groups(self.ready.requests, order, control_first=None):
            groups.append(group)
            self._report(ProgressFact(stage="losslessness", done=len(groups), total=total))
        yield from self._read(groups, order, watch, "losslessness", 0, 0)

    def _read(
        self, groups: list[tuple[Outcome, ...]], order: Many[Many[Seat]], watch: Watch, purpose: Purpose, trial: int, block: int
    ) -> Iterator[Told]:
        quiet = watch.read()
        by_arm: dict[Any, list[Outcome]] = {}
        for group in groups:
            for outcome in group:
                by_arm.setdefault((outcome.arm, outcome.seat), []).append(outcome)
        for own in by_arm.values():
            seconds = sum(o.sequence.step_end[-1] - o.sequence.sent_at for o in own)
            yield from self._trial(own[0], self.bench.work_of(own), seconds, purpose, trial, block, quiet)
        for group, row in zip(groups, order, strict=True):
            yield from self._requests(group, row, purpose, trial)
