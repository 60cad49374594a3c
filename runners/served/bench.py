"""All arms of a job on servers of their own: asked, heard and counted from outside, on one clock."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeVar

from app.domain.bounds import Arm
from app.domain.outside.reading import Reading
from app.domain.outside.untrusted import NotUnderstood
from runners.clock import Clock
from runners.controllers.constant import Constant, ConstantParams
from runners.engine.external.answer import Answer, Ask, Heard
from runners.engine.external.faults import EngineFault
from runners.engine.sequence import Request
from runners.protocol.arms import Arms, Outcome, Seat, arm_of
from runners.served.server import Server
from runners.served.told import Told

LOOK_SECONDS = 0.25
# What a server may take of a core while nothing is asked of it: it slows all arms down alike. A vLLM that sleeps takes 0.02.
HOUSEKEEPING = 0.05
Got = TypeVar("Got")


@dataclass(frozen=True)
class Served:
    """A run's arm as trials know it; the engine decides the lengths of its drafts, and nothing here learns."""

    most: int | None
    controller: Constant


@dataclass(frozen=True)
class Work:
    """What an arm's server said before and after its `requests` of a trial or a pass, in which `emitted` tokens were delivered."""

    before: str | None
    after: str | None
    requests: int
    emitted: int
    prompt_steps: int | None = None


class ServedBench(Arms):
    """`servers` holds one for each run and, under None, that of the plain arm where there is one; `asking` makes a request into what is asked, and
    `few` ids are what a server reads first when it was started anew. `steps_told` false: the engine's steps are not what definitions § 1 counts, as a
    recurrent state that is taken back is computed again.

    What counters say of one request is known where it runs alone. The steps that a prompt takes are read off the plain arm, every other step of which
    delivers a token: a server may cut a prompt into several.
    """

    clock: Clock
    arms: dict[int, Served]

    def __init__(
        self,
        servers: Mapping[Seat, Server],
        asking: Callable[[Request], Ask],
        clock: Clock,
        few: tuple[int, ...],
        *,
        steps_told: bool = True,
        wanted: Callable[[int], bool] = lambda _: True,
    ) -> None:
        self.servers, self.asking, self.clock, self.few, self.wanted = dict(servers), asking, clock, few, wanted
        self.steps_told, self.has_plain = steps_told, None in servers
        paces = Constant(ConstantParams())
        self.arms = {seat: Served(server.engine.longest_draft, paces) for seat, server in servers.items() if seat is not None}
        self._loop = asyncio.Runner()
        self._opened: dict[Seat, str | None] = {}
        self._seen: dict[Seat, str | None] = {}
        self._prompt_steps: dict[str, int] = {}
        self._last: Seat | Literal["nobody"] = "nobody"
        self._trespassed = 0.0

    # --- servers ------------------------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Every server that was started is stopped, whatever happens to the others. A second call does nothing."""
        with contextlib.ExitStack() as stack:
            stack.callback(self._loop.close)
            while self.servers:
                stack.callback(self._stop, self.servers.popitem()[1])

    def _stop(self, server: Server) -> None:
        self.run(server.stop())

    def run(self, work: Coroutine[Any, Any, Got]) -> Got:
        return self._loop.run(work)

    def spent(self) -> float:
        """Processor seconds of all servers, but for what they took while another one was asked: that is taken from the measurement."""
        return _spent(self.servers.values()) - self._trespassed

    @contextlib.contextmanager
    def _turn(self, seat: Seat) -> Iterator[None]:
        """The cores are this arm's, once the others are at rest. What ends its engine is told in that one's last words."""
        others = [server for other, server in self.servers.items() if other != seat]
        if self._last != seat:
            self.run(_rest(others))
        self._last, before, began = seat, _spent(others), time.monotonic()
        try:
            yield
            # What a guard no longer watches is nobody's any more, whatever it has answered.
            self.servers[seat].check_alive()
        except EngineFault as fault:
            if (ended := self.servers[seat].end_of(fault)) is not None:
                raise ended from fault
            raise
        finally:
            taken = _spent(others) - before
            self._trespassed += max(0.0, taken - HOUSEKEEPING * len(others) * (time.monotonic() - began))

    def renew(self, seats: Sequence[Seat]) -> None:
        """Starts anew what remembers requests; then plain too, so that both begin alike."""
        if not any(server.engine.restart_between_trials for server in self.servers.values()):
            return
        self._last = "nobody"
        for seat in seats:
            if seat is None or self.servers[seat].engine.restart_between_trials:
                self.run(self.servers[seat].renew(self.few))

    def leave(self, run: int) -> None:
        """A run whose server did not come up is measured no more."""
        del self.arms[run]
        self.run(self.servers.pop(run).stop())

    # --- what is still wanted -----------------------------------------------------------------------------------------------------------

    async def _while_wanted(self, seat: Seat, work: Coroutine[Any, Any, Got]) -> Got | None:
        """None when nobody wants the arm any more before the work is done."""
        task, unwanted = asyncio.create_task(work), self.unwanted(seat)
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=LOOK_SECONDS)
                if not task.done() and unwanted():
                    return None
            return task.result()
        finally:
            if task.cancel():
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    # --- one after the other ------------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        self.clock.start()

    def all_arms(self, request: Request) -> tuple[Outcome, ...]:
        seats = self.seats()
        for seat in seats:
            self._seen[seat] = self.run(self.servers[seat].scrape())
        return tuple(outcome for seat in seats if (outcome := self._one(seat, request)) is not None)

    def groups(self, requests: Sequence[Request], orders: Sequence[Sequence[Seat]], control_first: bool | None) -> Iterator[tuple[Outcome, ...]]:
        """One pass at load 1; there is no control, since an engine's plain arm is its own."""
        for seat in dict.fromkeys(seat for order in orders for seat in order):
            self._opened[seat] = self._seen[seat] = self.run(self.servers[seat].scrape())
        self.reset()
        for request, order in zip(requests, orders, strict=True):
            yield tuple(outcome for seat in order if (outcome := self._one(seat, request)) is not None)

    def _one(self, seat: Seat, request: Request) -> Outcome | None:
        server, ask = self.servers[seat], self.asking(request)
        with self._turn(seat):
            heard = self.run(self._while_wanted(seat, server.engine.hear(server.client, ask)))
            if heard is None:
                self.live()
                return None
            before, after = self._seen[seat], self.run(server.scrape())
            self._seen[seat] = after
            answer = server.engine.answer(server.client, ask, heard)
        return self._outcome(seat, request, answer, self._reading(server, [answer])[0], self._moved(seat, request, answer, before, after))

    def _moved(self, seat: Seat, request: Request, answer: Answer, before: str | None, after: str | None) -> Reading | None:
        """What the counters say of one request that ran alone; None where they do not, or say more than its answer explains."""
        moved = self._total(self.servers[seat], Work(before, after, 1, answer.emitted or 0, prompt_steps=0))
        if moved is None or moved.counts.emitted != answer.emitted:
            return None
        if seat is None and self.steps_told and moved.counts.undrafted is not None and answer.emitted:
            self._prompt_steps[request.prompt] = moved.counts.undrafted - (answer.emitted - 1)
        return moved

    # --- at the same time ---------------------------------------------------------------------------------------------------------------

    def together(self, seat: Seat, requests: Sequence[Request], concurrency: int) -> tuple[list[Outcome], Work] | None:
        """One trial of all requests by one arm, at most `concurrency` in flight. Those of an open load that find all slots taken wait here and not in
        the server, so that it is known for how long. Answers are read when the last one is here."""
        server = self.servers[seat]
        before = self.run(server.scrape())
        with self._turn(seat):
            self.reset()
            found = self.run(self._while_wanted(seat, self._hear_all(server, requests, concurrency)))
            if found is None:
                self.live()
                return None
            after = self.run(server.scrape())
            answers = [server.engine.answer(server.client, self.asking(request), heard) for request, heard in zip(requests, found, strict=True)]
        readings = self._reading(server, answers)
        outcomes = [self._outcome(seat, *each) for each in zip(requests, answers, readings, strict=True)]
        return outcomes, Work(before, after, len(answers), sum(answer.emitted or 0 for answer in answers))

    async def _hear_all(self, server: Server, requests: Sequence[Request], concurrency: int) -> list[Heard]:
        found: dict[int, Heard] = {}
        waiting = iter(enumerate(requests))

        async def worker() -> None:
            for place, request in waiting:
                found[place] = await server.engine.hear(server.client, self.asking(request))

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(concurrency):
                    group.create_task(worker())
        except ExceptionGroup as several:
            raise next((each for each in several.exceptions if isinstance(each, EngineFault)), several.exceptions[0]) from several
        return [found[place] for place in range(len(requests))]

    # --- counts -------------------------------------------------------------------------------------------------------------------------

    def _reading(self, server: Server, answers: Sequence[Answer]) -> list[Reading]:
        try:
            return server.engine.readings(answers)
        except NotUnderstood as error:
            raise _unreadable(server, error) from error

    def _outcome(self, seat: Seat, request: Request, answer: Answer, reading: Reading, moved: Reading | None = None) -> Outcome:
        server = self.servers[seat]
        try:
            rounds = server.engine.rounds(answer)
        except NotUnderstood as error:
            raise _unreadable(server, error) from error
        told = Told(request, answer, seat is None, reading, moved, rounds, server.engine.past_limit, lambda: self._prompt_steps.get(request.prompt))
        return Outcome(arm_of(seat), seat, told)

    def _total(self, server: Server, work: Work) -> Reading | None:
        if work.before is None or work.after is None:
            return None
        try:
            return server.engine.total(work.before, work.after, requests=work.requests, prompt_steps=work.prompt_steps)
        except NotUnderstood as error:
            raise _unreadable(server, error) from error

    def work_of(self, outcomes: Sequence[Outcome]) -> Work:
        seat = outcomes[0].seat
        steps = [self._prompt_steps.get(outcome.sequence.request.prompt) for outcome in outcomes]
        known = None if any(each is None for each in steps) else sum(each for each in steps if each is not None)
        emitted = sum(int(outcome.sequence.counted()["emitted"]) for outcome in outcomes)
        return Work(self._opened.get(seat), self._seen.get(seat), len(outcomes), emitted, known)

    def told_of(self, arm: Arm, seat: Seat, work: Work) -> dict[str, Any]:
        """The engine's counters over the whole, and how many requests of others are in them."""
        server = self.servers[seat]
        counted = self._total(server, work)
        if counted is not None and (wrong := counted.counts.broken()):
            raise EngineFault("engine_counts", f"The counters of {server.called} contradict themselves: {'; '.join(wrong)}.")
        return {"forwards": None, "slot_steps": None, "counted": counted, "foreign": None if counted is None else foreign(counted, work)}


def _spent(servers: Iterable[Server]) -> float:
    """Processor seconds of their processes together."""
    return sum(server.spent() for server in servers)


async def _rest(servers: Sequence[Server]) -> None:
    await asyncio.gather(*(server.rest() for server in servers))


def foreign(counted: Reading, work: Work) -> int | None:
    """Requests of others: as many as were counted beyond ours, at least one where more tokens were. None where nobody can tell, which is also where
    fewer were counted than were heard."""
    emitted = counted.counts.emitted
    if emitted is None or emitted < work.emitted or counted.counts.requests < work.requests:
        return None
    return max(counted.counts.requests - work.requests, int(emitted > work.emitted))


def _unreadable(server: Server, error: NotUnderstood) -> EngineFault:
    return EngineFault("engine_unreadable", f"what {server.called} counts is not understood: {error}")
