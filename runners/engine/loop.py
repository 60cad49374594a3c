"""The one draft → verify → commit loop. Every arm of every comparison goes through it."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from torch import Tensor

from runners.clock import Clock
from runners.controllers.base import Controller
from runners.drafters.base import Drafter
from runners.engine.dice import Chance
from runners.engine.draft import Accepted, Batch, Draft
from runners.engine.sequence import Request, Sequence
from runners.engine.stops import StopRules
from runners.engine.target import Target
from runners.verifiers.base import Verifier

# Seconds; a run that nobody wants any more does not wait for an arrival that is far away.
LONGEST_NAP = 0.5


@dataclass
class Counters:
    """Per trial: verification forwards, the slots in use summed over them, and the forwards in whose step a compiled target ran anything eager."""

    forwards: int = 0
    slot_steps: int = 0
    eager: int = 0


class Loop:
    """`cap_at_limit` shortens a draft so that it cannot outrun the token limit; the toy alone goes without (mission: the toy experiment)."""

    def __init__(
        self,
        target: Target,
        drafter: Drafter,
        controller: Controller,
        verifier: Verifier,
        rules: StopRules,
        clock: Clock,
        *,
        chance: Chance | None = None,
        cap_at_limit: bool = True,
    ) -> None:
        self.target, self.drafter, self.controller, self.verifier = target, drafter, controller, verifier
        self.rules, self.clock, self.cap_at_limit = rules, clock, cap_at_limit
        self.chance = chance or Chance()
        self.counters = Counters()

    def run(self, requests: Iterable[Request], concurrency: int, *, cancelled: Callable[[], bool] = lambda: False) -> list[Sequence]:
        """Decodes all requests over at most `concurrency` slots, refilling a slot as soon as it is free; in the order of finishing.

        Requests stand in the order of their arrival; one that has a planned time is not admitted before it. When `cancelled` turns true the
        sequences that finished so far are returned.
        """
        waiting, free = deque(requests), list(range(min(concurrency, self.target.slots)))
        running: list[Sequence] = []
        done: list[Sequence] = []
        with self.target.supplying(self.drafter.needs):
            self._decode(waiting, free, running, done, cancelled)
        return done

    def _decode(self, waiting: deque[Request], free: list[int], running: list[Sequence], done: list[Sequence], cancelled: Callable[[], bool]) -> None:
        while (waiting or running) and not cancelled():
            while waiting and free and self._arrived(waiting[0]):
                running.append(self._admit(waiting.popleft(), free.pop(0)))
            if not running:
                self._idle(waiting[0])
            live = [s for s in running if s.finish is None]
            if live:
                self._step(live)
            for sequence in [s for s in running if s.finish is not None]:
                running.remove(sequence)
                free.append(sequence.slot)
                done.append(sequence)

    def _arrived(self, request: Request) -> bool:
        return request.planned_at is None or request.planned_at <= self.clock.now()

    def _idle(self, upcoming: Request) -> None:
        assert upcoming.planned_at is not None
        self.clock.wait_until(min(upcoming.planned_at, self.clock.now() + LONGEST_NAP))

    def _admit(self, request: Request, slot: int) -> Sequence:
        sequence = Sequence(request, slot, self.clock.now(), list(request.ids))
        logits: Tensor | None = self.target.prefill(slot, request.ids)
        sequence.passes = self.target.passes[slot]
        self.chance.dice.begin(slot, request.seed, request.prompt)
        self.controller.begin(slot)
        self.drafter.begin(slot, request.ids)
        if logits is not None:
            none, alone = Draft.empty(1, self.target.device), Batch((slot,), (sequence.ids,))
            first = self.verifier.verify(alone, none, logits[None, None], self.chance).next[0]
            sequence.take_prefill(first, self.rules, self.clock.now())
        return sequence

    def _step(self, live: list[Sequence]) -> None:
        # In the order of their slots a full batch reads the cache as it lies, instead of a copy.
        live = sorted(live, key=lambda s: s.slot)
        batch = Batch(tuple(s.slot for s in live), tuple(s.ids for s in live))
        began, eager = self.clock.now(), self.target.eager
        draft = self._propose(batch, self._limits(live))
        logits = self._verify(batch, draft)
        accepted = self.verifier.verify(batch, draft, logits, self.chance)
        if accepted.paths is not None:
            self._settle(batch, draft, accepted.paths)
        self.counters.forwards += 1
        self.counters.slot_steps += len(live)
        self.counters.eager += self.target.eager > eager
        self.drafter.observe(batch, accepted.kept)
        now = self.clock.now()
        self._commit(live, draft, accepted, now)
        # A controller asks for depth, whatever stands beside it in a tree.
        self.controller.stepped(draft.depths, now - began)

    def _propose(self, batch: Batch, limits: list[int]) -> Draft:
        return self.drafter.propose(batch, limits, self.controller.proceeds if self.controller.stops_drafts else None)

    def _verify(self, batch: Batch, draft: Draft) -> Tensor:
        return self.target.verify(batch, draft)

    def _settle(self, batch: Batch, draft: Draft, paths: list[list[int]]) -> None:
        self.target.settle(batch, draft, paths)

    def _commit(self, live: list[Sequence], draft: Draft, accepted: Accepted, now: float) -> None:
        tokens, depths = draft.tokens.tolist(), draft.depths
        for row, sequence in enumerate(live):
            drafted, kept = draft.lengths[row], [tokens[row][node] for node in accepted.path(row)]
            if drafted:
                self.controller.observe(sequence.slot, depths[row], len(kept))
            sequence.take_step(drafted, kept, accepted.next[row], len(live), self.rules, now, depth=depths[row])

    def _limits(self, live: list[Sequence]) -> list[int]:
        """Drafts that may still go before the verifier: the controller's wish, the room in the context and, unless lifted, the token limit."""
        wishes = self.controller.lengths([s.slot for s in live])
        return [max(0, min(wish, self._room(sequence))) for wish, sequence in zip(wishes, live, strict=True)]

    def _room(self, sequence: Sequence) -> int:
        room = self.target.context - len(sequence.ids) - 1
        return min(room, self.rules.limit - sequence.emitted - 1) if self.cap_at_limit else room
