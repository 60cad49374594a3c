"""Both arms of one run over one target: the same loop, stop rule, token count and clock."""

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass
from typing import Protocol

from app.domain.facts import Arm
from runners.clock import Clock
from runners.controllers.base import Controller
from runners.controllers.constant import Constant, ConstantParams
from runners.drafters.base import Params
from runners.drafters.none import NoDrafter
from runners.engine.dice import Chance
from runners.engine.loop import Counters, Loop
from runners.engine.sequence import Request, Sequence
from runners.engine.stops import StopRules
from runners.engine.target import Target
from runners.parts import Chosen


@dataclass(frozen=True)
class Outcome:
    """One request decoded by one arm; `order` is its place in the pair of arms (2 for the control, which stands beside the pair), `forwards` and
    `slot_steps` are the loop's."""

    arm: Arm
    order: int
    sequence: Sequence
    forwards: int
    slot_steps: int


class Cancelled(Exception):
    """The run was cancelled between two requests."""


class Decoder(Protocol):
    """Decodes one request by other means than our loop, on the same clock and by the same stop rule."""

    def decode(self, request: Request) -> Sequence: ...


class Bench:
    """`cancelled` is asked between requests and steps; without a `control` there is no control arm."""

    def __init__(
        self, target: Target, chosen: Chosen, rules: StopRules, clock: Clock, cancelled: Callable[[], bool], control: Decoder | None = None
    ) -> None:
        self.target, self.clock, self.cancelled, self.control = target, clock, cancelled, control
        chance = Chance(chosen.law)
        self.controller: Controller = chosen.control()
        self.drafter = chosen.bind(target, chance)
        self.longest = self.controller.longest
        undecided = Constant(ConstantParams())
        self.loops: dict[Arm, Loop] = {
            "plain": Loop(target, NoDrafter(Params(), target), undecided, chosen.verifier, rules, clock, chance=chance),
            "speculative": Loop(target, self.drafter, self.controller, chosen.verifier, rules, clock, chance=chance),
        }

    def reset(self) -> None:
        """Forgets what an earlier trial taught drafter and controller, and starts the clock."""
        self.drafter.reset()
        self.controller.reset()
        self.clock.start()

    def groups(self, requests: Many[Request], plain_first: Many[bool], control_first: bool | None) -> Iterator[tuple[Outcome, ...]]:
        """One pass at load 1: every prompt by plain and speculative back to back, and by the control before or after them (None leaves it out).

        Over the two passes of a block the control stands once on either side of the pair, so that drift cancels for it too.
        """
        self.reset()
        for request, first in zip(requests, plain_first, strict=True):
            before = self._controls(request) if control_first is True else ()
            arms: tuple[Arm, Arm] = ("plain", "speculative") if first else ("speculative", "plain")
            pair = self._one(arms[0], 0, request), self._one(arms[1], 1, request)
            yield (*before, *pair, *(self._controls(request) if control_first is False else ()))

    def all_arms(self, request: Request) -> tuple[Outcome, ...]:
        """Every arm on one prompt, outside any trial."""
        return self._one("plain", 0, request), self._one("speculative", 1, request), *self._controls(request)

    def together(self, arm: Arm, order: int, requests: Many[Request], concurrency: int) -> tuple[list[Outcome], Counters]:
        """One trial of a closed load: all requests by one arm, `concurrency` in flight, times from the trial's own start.

        Forwards are shared by the requests that rode in them, so they are counted for the trial and not for each request.
        """
        loop = self.loops[arm]
        loop.counters = Counters()
        self.reset()
        finished = loop.run(requests, concurrency, cancelled=self.cancelled)
        self.clock.settle()
        if len(finished) < len(requests):
            raise Cancelled
        return [Outcome(arm, order, sequence, 0, 0) for sequence in finished], loop.counters

    def _controls(self, request: Request) -> tuple[Outcome, ...]:
        if self.control is None:
            return ()
        sequence = self.control.decode(request)
        self.clock.settle()
        if self.cancelled():
            raise Cancelled
        return (Outcome("control", 2, sequence, sequence.emitted, sequence.emitted),)

    def _one(self, arm: Arm, order: int, request: Request) -> Outcome:
        loop = self.loops[arm]
        before = (loop.counters.forwards, loop.counters.slot_steps)
        finished = loop.run([request], 1, cancelled=self.cancelled)
        self.clock.settle()
        if not finished:
            raise Cancelled
        return Outcome(arm, order, finished[0], loop.counters.forwards - before[0], loop.counters.slot_steps - before[1])
