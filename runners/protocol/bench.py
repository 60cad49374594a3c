"""All arms of a job over one target: the same loop, stop rule, token count and clock."""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass
from typing import Any, Protocol

from app.domain.bounds import Arm
from runners.clock import Clock
from runners.controllers.base import Controller
from runners.controllers.constant import Constant, ConstantParams
from runners.drafters.base import Drafter, Params
from runners.drafters.none import NoDrafter
from runners.engine.companion import Companion
from runners.engine.dice import Chance
from runners.engine.loop import Counters, Loop
from runners.engine.sequence import Request, Sequence
from runners.engine.stops import StopRules
from runners.engine.target import Stretch, Target
from runners.parts import Chosen
from runners.protocol.arms import Arms
from runners.protocol.arms import Cancelled as Cancelled
from runners.protocol.arms import Outcome as Outcome
from runners.protocol.arms import Seat as Seat
from runners.protocol.arms import arm_of as arm_of


class Decoder(Protocol):
    """Decodes one request by other means than our loop, on the same clock and by the same stop rule."""

    def decode(self, request: Request) -> Sequence: ...


@dataclass(frozen=True)
class Speculation:
    """The speculative arm of one run."""

    drafter: Drafter
    controller: Controller
    loop: Loop

    @property
    def longest(self) -> int:
        return self.controller.longest

    @property
    def most(self) -> int:
        """The most tokens that a round may put before the verifier: more than its longest path where it branches."""
        return self.drafter.most(self.longest)


class Bench(Arms):
    """`chosen` holds the parts of each run by its number; `wanted` is asked between requests and steps. Without a `control` there is no control arm.

    Raises UnfitDrafter when a drafter's parameters do not fit the target.
    """

    clock: Clock
    arms: dict[int, Speculation]

    def __init__(
        self,
        target: Target,
        chosen: Mapping[int, Chosen],
        rules: StopRules,
        clock: Clock,
        wanted: Callable[[int], bool] = lambda _: True,
        control: Decoder | None = None,
    ) -> None:
        self.target, self.rules, self.clock, self.wanted, self.control = target, rules, clock, wanted, control
        parts = next(iter(chosen.values()))
        self.chance, self.verifier = Chance(parts.law), parts.verifier
        self.plain = self._loop(NoDrafter(Params(), target), Constant(ConstantParams()))
        self.arms = {run: self._speculation(each) for run, each in chosen.items()}

    def _loop(self, drafter: Drafter, controller: Controller) -> Loop:
        return Loop(self.target, drafter, controller, self.verifier, self.rules, self.clock, chance=self.chance)

    def _speculation(self, chosen: Chosen) -> Speculation:
        drafter, controller = chosen.bind(self.target, self.chance), chosen.control()
        return Speculation(drafter, controller, self._loop(drafter, controller))

    def beside(self, seat: Seat) -> Companion | None:
        """The second model that an arm decodes with."""
        return self.loop(seat).drafter.companion

    def idle_bytes(self, seat: Seat) -> int:
        """Memory of second models that other arms brought along and this one does not use."""
        own, others = self.beside(seat), [each for run in self.arms if run != seat and (each := self.beside(run)) is not None]
        weights = {each.key: each.weight_bytes for each in others if own is None or each.key != own.key}
        return sum(weights.values()) + sum(each.cache_bytes for each in others)

    def stretches(self) -> set[Stretch]:
        """The passes through the target that its arms make in every round."""
        plain = self.plain.drafter.stretches(0)
        return plain.union(*(arm.drafter.stretches(arm.longest) for arm in self.arms.values()))

    def loop(self, seat: Seat) -> Loop:
        return self.plain if seat is None else self.arms[seat].loop

    def renew(self, seats: Many[Seat]) -> None:
        """Nothing here is forgotten outside a trial's time."""

    def reset(self) -> None:
        for arm in self.arms.values():
            arm.drafter.reset()
            arm.controller.reset()
        self.clock.start()

    def groups(self, requests: Many[Request], orders: Many[Many[Seat]], control_first: bool | None) -> Iterator[tuple[Outcome, ...]]:
        """One pass at load 1: every prompt by all arms back to back in its own order, and by the control before or after them (None leaves it out).

        Over the two passes of a block the control stands once on either side of the others, so that drift cancels for it too.
        """
        self.reset()
        for request, order in zip(requests, orders, strict=True):
            before = self._controls(request) if control_first is True else ()
            arms = tuple(outcome for seat in order if (outcome := self._one(seat, request)) is not None)
            yield (*before, *arms, *(self._controls(request) if control_first is False else ()))

    def all_arms(self, request: Request) -> tuple[Outcome, ...]:
        return (*(outcome for seat in self.seats() if (outcome := self._one(seat, request)) is not None), *self._controls(request))

    def together(self, seat: Seat, requests: Many[Request], concurrency: int) -> tuple[list[Outcome], Counters] | None:
        """One trial of a closed load: all requests by one arm, `concurrency` in flight, times from the trial's own start. None when nobody wants
        the arm any more.

        Forwards are shared by the requests that rode in them, so they are counted for the trial and not for each request.
        """
        loop = self.loop(seat)
        loop.counters = Counters()
        self.reset()
        finished = loop.run(requests, concurrency, cancelled=self.unwanted(seat))
        self.clock.settle()
        if len(finished) < len(requests):
            self.live()
            return None
        return [Outcome(arm_of(seat), seat, sequence, 0, 0) for sequence in finished], loop.counters

    def work_of(self, outcomes: Many[Outcome]) -> Counters:
        return Counters(sum(o.forwards for o in outcomes), sum(o.slot_steps for o in outcomes), sum(o.eager for o in outcomes))

    def told_of(self, arm: Arm, seat: Seat, work: Counters) -> dict[str, Any]:
        """Weights and cache of a second model that the arm decodes with are counted in."""
        beside = self.beside(seat)
        return {
            "forwards": work.forwards,
            "slot_steps": work.slot_steps,
            "eager_forwards": None if self.target.compiled is None or arm == "control" else work.eager,
            "weight_bytes": _sum(self.target.weight_bytes, 0 if beside is None else beside.weight_bytes),
            "cache_bytes": _sum(self.target.cache_bytes, 0 if beside is None else beside.cache_bytes),
        }

    def _controls(self, request: Request) -> tuple[Outcome, ...]:
        if self.control is None:
            return ()
        sequence = self.control.decode(request)
        self.clock.settle()
        self.live()
        return (Outcome("control", None, sequence, sequence.emitted, sequence.emitted),)

    def _one(self, seat: Seat, request: Request) -> Outcome | None:
        loop = self.loop(seat)
        before = (loop.counters.forwards, loop.counters.slot_steps, loop.counters.eager)
        finished = loop.run([request], 1, cancelled=self.unwanted(seat))
        self.clock.settle()
        if not finished:
            self.live()
            return None
        after = (loop.counters.forwards, loop.counters.slot_steps, loop.counters.eager)
        return Outcome(arm_of(seat), seat, finished[0], *(now - then for now, then in zip(after, before, strict=True)))


def _sum(own: int | None, more: int) -> int | None:
    return None if own is None else own + more
