"""What proposes tokens. A drafter never verifies, counts, times or stops."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from runners.engine.draft import Batch, Draft
from runners.engine.target import Target


class Params(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class UnfitDrafter(ValueError):
    """The drafter's parameters do not fit this target; the message says how."""


class Drafter(ABC):
    """`memory` says whether anything outlives a request; `needs` names what the loop must supply beyond tokens; `always_drafts` says that a
    proposal is never empty while there is room, so that a run without any draft is a failure and not a fact; `shares_cache` says that the draft
    reads the target's own keys and values."""

    name: ClassVar[str]
    summary: ClassVar[str]
    Params: ClassVar[type[BaseModel]] = Params
    needs: ClassVar[frozenset[str]] = frozenset()
    memory: ClassVar[Literal["request", "process"]] = "request"
    always_drafts: ClassVar[bool] = False
    shares_cache: ClassVar[bool] = False

    def __init__(self, params: BaseModel, target: Target) -> None:
        self.params = params
        self.target = target

    def forced(self) -> str | None:
        """Why every draft of these parameters is kept by construction, if it is: such an acceptance says nothing and is not measured."""
        return None

    def reset(self) -> None:  # noqa: B027 - a drafter with memory `request` has nothing to forget
        """Forgets everything across requests; called at the start of every trial."""

    def begin(self, slot: int, ids: Sequence[int]) -> None:  # noqa: B027 - most drafters read the batch alone
        """A sequence with these prompt ids took a slot."""

    @abstractmethod
    def propose(self, batch: Batch, limits: Sequence[int]) -> Draft:
        """At most `limits[r]` tokens for row r; 0 for a row asks for none."""

    def observe(self, batch: Batch, kept: Sequence[int]) -> None:  # noqa: B027
        """The verifier kept `kept[r]` drafts of row r; `batch` is as it was proposed for."""
