"""Closed load above 1: whole passes over the prompts with c requests in flight, the arms as neighbours (definitions § 3)."""

import random
from collections.abc import Iterator
from collections.abc import Sequence as Many

from app.domain.bounds import Purpose
from app.domain.facts import ProgressFact
from runners.engine.sequence import Request
from runners.protocol.arms import Seat
from runners.protocol.order import williams
from runners.protocol.trials import Told, Trials

PAIRS = 2


def halves(arms: int, seed: int, block: int) -> tuple[list[int], list[int]]:
    """The two halves of a block, each a place for every arm: a row of the balanced square and the same row backwards, blocks taking turns
    through the square from a seeded start. With two arms that is ABBA and BAAB."""
    rows = williams(arms)
    row = rows[(random.Random(f"{seed}").randrange(len(rows)) + block) % len(rows)]
    return row, row[::-1]


class ClosedTrials(Trials):
    """A trial is one arm over all prompts, from its own clock start; within half a block every arm is a pair with plain and shares its number."""

    @property
    def units_per_block(self) -> int:
        return PAIRS * (1 + len(self.bench.arms))

    def requests(self, number: int) -> list[Request]:
        """The prompts of a pair in an order of the pair's own: which answers stand at the edges of the steady window is chance, and only chance that
        differs from pair to pair can show in the interval."""
        found = super().requests(number)
        return random.Random(f"{self.ready.spec.sampling.seed}:order:{number}").sample(found, len(found))

    def _block(self, block: int, planned: int) -> Iterator[Told]:
        seats = self.bench.seats()
        for half, row in enumerate(halves(len(seats), self.ready.spec.sampling.seed, block)):
            order = [seats[place] for place in row]
            for seat in order:
                yield from self._run(seat, order, "headline", block * PAIRS + half, block)
                self._advance(1, self.bench.clock.now(), planned)

    def losslessness(self) -> Iterator[Told]:
        seats = self.bench.seats()
        for done, seat in enumerate(seats):
            yield from self._run(seat, seats, "losslessness", 0, 0)
            self._report(ProgressFact(stage="losslessness", done=done + 1, total=len(seats)))

    def _run(self, seat: Seat, order: Many[Seat], purpose: Purpose, trial: int, block: int) -> Iterator[Told]:
        self.bench.renew([seat])
        watch = self.watch()
        ran = self.bench.together(seat, self.requests(trial), self.ready.spec.load.concurrency)
        if ran is None:
            return
        outcomes, work = ran
        seconds, quiet = self.bench.clock.now(), watch.read()
        yield from self._trial(outcomes[0], work, seconds, purpose, trial, block, quiet)
        yield from self._requests(outcomes, order, purpose, trial)
