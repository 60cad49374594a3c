"""A greedy loop that counts nothing and reads no clock, run step by step beside ours."""

from collections.abc import Callable
from typing import Self

from runners.engine.draft import Batch, Draft
from runners.engine.loop import Loop
from runners.engine.sequence import Request, Sequence
from runners.engine.target import Target

BARE_SLOT = 1


class Bare:
    """One request of plain decoding with nothing around its forwards but the argmax."""

    def __init__(self, target: Target, slot: int) -> None:
        self.target, self.slot, self.none = target, slot, Draft.empty(1, target.device)
        self.ids: list[int] = []

    def begin(self, request: Request) -> None:
        self.ids = list(request.ids)
        logits = self.target.prefill(self.slot, self.ids)
        assert logits is not None
        self.ids.append(int(logits.argmax()))

    def step(self) -> None:
        logits = self.target.verify(Batch((self.slot,), (self.ids,)), self.none)
        self.ids.append(int(logits[0, -1].argmax()))


class Beside(Loop):
    """Our loop in slot 0, which makes a bare step of the same request in slot 1 before or after each step of its own, in turns: both meet the
    machine in the same state, and a drift of it cancels within milliseconds. Bare steps are timed and taken off our loop's time."""

    bare: Bare

    @classmethod
    def of(cls, loop: Loop) -> Self:
        parts = (loop.target, loop.drafter, loop.controller, loop.verifier, loop.rules, loop.clock)
        made = cls(*parts, chance=loop.chance, cap_at_limit=loop.cap_at_limit)
        made.bare = Bare(loop.target, BARE_SLOT)
        return made

    def both(self, request: Request) -> tuple[float, float]:
        """Seconds of bare and of our loop for one request, prefill included. Raises RuntimeError when their answers differ."""
        self.seconds = 0.0
        self.turn = 0
        self._bare(lambda: self.bare.begin(request))
        began, before = self.clock.now(), self.seconds
        done = self.run([request], 1)[0]
        whole = self.clock.now() - began - (self.seconds - before)
        if done.ids != self.bare.ids:
            raise RuntimeError("the bare loop gave another answer")
        return self.seconds, whole

    def _step(self, live: list[Sequence]) -> None:
        self.turn += 1
        if self.turn % 2:
            self._bare(self.bare.step)
        super()._step(live)
        if not self.turn % 2:
            self._bare(self.bare.step)

    def _bare(self, do: Callable[[], None]) -> None:
        self.clock.settle()
        began = self.clock.now()
        do()
        self.clock.settle()
        self.seconds += self.clock.now() - began
