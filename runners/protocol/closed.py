"""Closed load above 1: whole passes over the prompts with c requests in flight, plain and speculative as neighbours (definitions § 3)."""

import random
from collections.abc import Iterator

from app.domain.facts import AnyFact, Arm, ProgressFact, Purpose
from runners.environment import Watch
from runners.protocol.trials import Trials

PAIRS = 2


def arms_of(seed: int, block: int) -> tuple[Arm, Arm, Arm, Arm]:
    """The four trials of a block: ABBA or BAAB, taking turns from a seeded start."""
    start = random.Random(f"{seed}").randrange(2)
    return ("plain", "speculative", "speculative", "plain") if (start + block) % 2 == 0 else ("speculative", "plain", "plain", "speculative")


class ClosedTrials(Trials):
    """A trial is one arm over all prompts, from its own clock start; two neighbours are a pair and share its number."""

    @property
    def units_per_block(self) -> int:
        return 2 * PAIRS

    def _block(self, block: int, planned: int) -> Iterator[AnyFact]:
        for place, arm in enumerate(arms_of(self.ready.spec.sampling.seed, block)):
            yield from self._run(arm, place % 2, "headline", block * PAIRS + place // 2, block)
            self._advance(1, self.bench.clock.now(), planned)

    def losslessness(self) -> Iterator[AnyFact]:
        arms: tuple[Arm, Arm] = ("plain", "speculative")
        for place, arm in enumerate(arms):
            yield from self._run(arm, place, "losslessness", 0, 0)
            self.report(ProgressFact(stage="losslessness", done=place + 1, total=2))

    def _run(self, arm: Arm, order: int, purpose: Purpose, trial: int, block: int) -> Iterator[AnyFact]:
        watch = Watch(self.cores)
        outcomes, work = self.bench.together(arm, order, self.requests(trial), self.ready.spec.load.concurrency)
        seconds, quiet = self.bench.clock.now(), watch.read()
        yield self._trial(arm, work, seconds, purpose, trial, block, quiet)
        yield from self._facts(outcomes, purpose, trial)
