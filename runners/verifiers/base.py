"""What keeps drafts. A verifier is pure: equal inputs give equal answers, and it holds no state."""

from abc import ABC, abstractmethod
from typing import ClassVar

from pydantic import BaseModel, ConfigDict
from torch import Tensor

from runners.engine.draft import Accepted, Draft


class NoParams(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Verifier(ABC):
    """`lossless` is printed beside every number that the rule produced."""

    name: ClassVar[str]
    summary: ClassVar[str]
    lossless: ClassVar[bool]
    Params: ClassVar[type[BaseModel]] = NoParams

    def __init__(self, params: BaseModel) -> None:
        self.params = params

    @abstractmethod
    def verify(self, draft: Draft, logits: Tensor) -> Accepted:
        """Judges a draft by the target's logits `[B, n + 1, V]`."""
