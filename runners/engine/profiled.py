"""The loop with its stages timed, for trials that do nothing but measure stages: headline trials carry no inner synchronisation."""

from collections import defaultdict
from typing import Literal, Self

from torch import Tensor

from runners.engine.draft import Batch, Draft
from runners.engine.loop import Loop

Stage = Literal["step", "draft", "verify"]
# A stage, the sequences in its batch, and the drafts of the longest row.
Shape = tuple[Stage, int, int]


class ProfiledLoop(Loop):
    """Reads the clock with the device settled before and after each proposal and each forward.

    A plain step is timed as the forward that it is, by the same hook as a verification, so that verifying no draft costs exactly one step; what
    stands outside of forwards (the rule, the commit) is in neither. A step whose rows drafted different numbers is one of its longest row: the
    forward is padded to it and the batch waits for it. Of a tree what was drafted are its nodes, and to verify it is also to move those that were
    kept to where a chain has them. Of a step without any draft in a speculative arm nothing is kept, as its proposal failed.
    """

    times: dict[Shape, list[float]]
    plain: bool

    @classmethod
    def of(cls, loop: Loop) -> Self:
        """The same arm, timed."""
        parts = (loop.target, loop.drafter, loop.controller, loop.verifier, loop.rules, loop.clock)
        made = cls(*parts, chance=loop.chance, cap_at_limit=loop.cap_at_limit)
        made.times = defaultdict(list)
        made.plain = loop.drafter.name == "none"
        return made

    def _propose(self, batch: Batch, limits: list[int]) -> Draft:
        began = self._now()
        draft = super()._propose(batch, limits)
        self._keep("draft", batch, draft, self._now() - began)
        return draft

    def _verify(self, batch: Batch, draft: Draft) -> Tensor:
        began = self._now()
        logits = super()._verify(batch, draft)
        self._keep("verify", batch, draft, self._now() - began)
        return logits

    def _settle(self, batch: Batch, draft: Draft, paths: list[list[int]]) -> None:
        began = self._now()
        super()._settle(batch, draft, paths)
        self.times["verify", len(batch), max(draft.lengths)][-1] += self._now() - began

    def _now(self) -> float:
        self.clock.settle()
        return self.clock.now()

    def _keep(self, stage: Stage, batch: Batch, draft: Draft, seconds: float) -> None:
        longest = max(draft.lengths)
        if longest:
            self.times[stage, len(batch), longest].append(seconds)
        elif self.plain and stage == "verify":
            self.times["step", len(batch), 0].append(seconds)
