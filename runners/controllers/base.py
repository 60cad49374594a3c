"""What decides how many tokens to draft next, a state per slot."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, model_validator

from app.domain.drafting import crossed


class Params(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        wrong = crossed(dict(self))
        if wrong is not None:
            raise ValueError(wrong)
        return self


class Controller(ABC):
    """Sees rounds, batch sizes and step times, never tokens. `longest` is the longest draft it may ever ask for.

    `stops_drafts` says that it ends drafts by the drafter's own probability (`proceeds`).
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    Params: ClassVar[type[BaseModel]]
    stops_drafts: ClassVar[bool] = False

    def __init__(self, params: BaseModel) -> None:
        self.params = params

    @property
    @abstractmethod
    def longest(self) -> int: ...

    @property
    def timed(self) -> bool:
        """Whether it decides by times that are measured as it goes, so that greedy repeats may draft differently."""
        return False

    @abstractmethod
    def begin(self, slot: int) -> None:
        """A new sequence took the slot."""

    def reset(self) -> None:  # noqa: B027 - most controllers remember nothing across requests
        """Forgets everything; called at the start of every trial."""

    def warm(self, rows: int) -> bool:
        """Whether the warm-up has shown it what it needs to know of steps over so many rows."""
        del rows
        return True

    def settle(self) -> None:  # noqa: B027 - most controllers learn nothing from the warm-up
        """The warm-up is over: what was learnt from it may be kept, and is not forgotten by `reset`."""

    @abstractmethod
    def length(self, slot: int) -> int:
        """Drafts wished for in the slot's next round; 0 asks for a plain step."""

    def lengths(self, slots: Sequence[int]) -> list[int]:
        """The wishes of all rows that take part in the next step together."""
        return [self.length(slot) for slot in slots]

    def proceeds(self, slot: int, confidence: float) -> bool:
        """Whether to draft another token behind one that the drafter gave this probability; asked where `stops_drafts`."""
        del slot, confidence
        return True

    @abstractmethod
    def observe(self, slot: int, drafted: int, kept: int) -> None:
        """A round ended in which `kept` of `drafted` tokens were kept."""

    def stepped(self, drafted: Sequence[int], seconds: float) -> None:  # noqa: B027 - most controllers do not look at the time
        """A whole step (draft, verification, commit) over rows that drafted so many tokens each took `seconds`."""
