"""What trials need of the arms that they decode with, whoever decodes: our own loop, or engines that serve."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from app.domain.bounds import Arm
from app.domain.spec import RunSpec
from runners.engine.sequence import Request
from runners.workloads.suite import Prompt

# An arm of a job: the number of the run whose speculative arm it is, or None for the plain arm that all runs share.
Seat = int | None
Decode = Callable[[Sequence[int]], str]


class Cancelled(Exception):
    """No run of the job is wanted any more."""


class Decoded(Protocol):
    """One answer with its counts and times. `digest` is equal for equal answers and only for them, `counted` are the counts and times by the names of
    a request's fact."""

    @property
    def request(self) -> Request: ...
    @property
    def sent_at(self) -> float: ...
    @property
    def step_end(self) -> Sequence[float]: ...
    @property
    def drafted(self) -> int: ...
    @property
    def digest(self) -> str: ...
    def text(self, decode: Decode) -> str: ...
    def counted(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Outcome:
    """One request decoded by one arm; `seat` is None for plain and control. `forwards`, `slot_steps` and `eager` are our own loop's."""

    arm: Arm
    seat: Seat
    sequence: Decoded
    forwards: int = 0
    slot_steps: int = 0
    eager: int = 0


class Now(Protocol):
    def now(self) -> float: ...


class Paces(Protocol):
    """What decides the lengths of drafts, as far as a warm-up asks it (runners.controllers.base)."""

    def warm(self, rows: int) -> bool: ...
    def settle(self) -> None: ...


class Speculative(Protocol):
    """The speculative arm of one run. `most` is the most tokens that a round may put before the verifier, None where nobody knows."""

    @property
    def most(self) -> int | None: ...
    @property
    def controller(self) -> Paces: ...


class Arms(ABC):
    """All arms of a job: `arms` are those of its runs, and `has_plain` says whether there is a plain one beside them. `wanted` is asked whether a run
    still is. What a trial or a pass did besides its requests is `work`, which only the arms themselves can read."""

    clock: Now
    arms: Mapping[int, Speculative]
    wanted: Callable[[int], bool]
    has_plain = True

    def live(self) -> list[int]:
        """Runs that are still wanted. Raises Cancelled when none is."""
        found = [run for run in self.arms if self.wanted(run)]
        if not found:
            raise Cancelled
        return found

    def seats(self) -> list[Seat]:
        """Plain, where there is such an arm, then the speculative arm of every run that is still wanted."""
        plain: list[Seat] = [None] if self.has_plain else []
        return [*plain, *self.live()]

    def readers_of(self, seat: Seat) -> list[int]:
        """The runs that are told what an arm did: all of plain and control, one of its own arm."""
        return list(self.arms) if seat is None else [seat]

    def unwanted(self, seat: Seat) -> Callable[[], bool]:
        """What is asked while an arm decodes: whether nobody wants it any more."""
        runs = self.readers_of(seat)
        return lambda: not any(self.wanted(run) for run in runs)

    @abstractmethod
    def renew(self, seats: Sequence[Seat]) -> None:
        """Makes these arms forget what can only be forgotten outside a trial's time. Whoever watches the cores begins afterwards."""

    @abstractmethod
    def reset(self) -> None:
        """Forgets what an earlier trial taught the arms, and starts the clock."""

    @abstractmethod
    def groups(self, requests: Sequence[Request], orders: Sequence[Sequence[Seat]], control_first: bool | None) -> Iterator[tuple[Outcome, ...]]: ...

    @abstractmethod
    def together(self, seat: Seat, requests: Sequence[Request], concurrency: int) -> tuple[list[Outcome], Any] | None: ...

    @abstractmethod
    def all_arms(self, request: Request) -> tuple[Outcome, ...]:
        """Every arm on one prompt, outside any trial."""

    @abstractmethod
    def work_of(self, outcomes: Sequence[Outcome]) -> Any:
        """The work of an arm over a pass, from its outcomes one by one."""

    @abstractmethod
    def told_of(self, arm: Arm, seat: Seat, work: Any) -> dict[str, Any]:
        """What `work` says to a trial's fact, by the names of its fields."""


class Prepared(Protocol):
    """What trials read of a pre-flight."""

    @property
    def spec(self) -> RunSpec: ...
    @property
    def prompts(self) -> tuple[Prompt, ...]: ...
    @property
    def requests(self) -> list[Request]: ...
    @property
    def tokenizer(self) -> Any: ...


def arm_of(seat: Seat) -> Arm:
    return "plain" if seat is None else "speculative"
