"""What keeps drafts. A verifier holds no state: equal inputs and equal draws give equal answers."""

from abc import ABC, abstractmethod
from typing import ClassVar

from pydantic import BaseModel, ConfigDict
from torch import Tensor

from runners.engine.dice import Chance
from runners.engine.draft import Accepted, Batch, Draft


class NoParams(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Verifier(ABC):
    """`lossless` is printed beside every number that the rule produced; `greedy` says that the rule is for temperature 0 alone, `trees` that it also
    judges drafts that branch."""

    name: ClassVar[str]
    summary: ClassVar[str]
    lossless: ClassVar[bool]
    greedy: ClassVar[bool] = False
    trees: ClassVar[bool] = False
    Params: ClassVar[type[BaseModel]] = NoParams

    def __init__(self, params: BaseModel) -> None:
        self.params = params

    @abstractmethod
    def verify(self, batch: Batch, draft: Draft, logits: Tensor, chance: Chance) -> Accepted:
        """Judges a draft by the target's logits `[B, n + 1, V]`; an empty draft asks for the next token alone."""
