"""What decides how many tokens to draft next, a state per slot."""

from abc import ABC, abstractmethod
from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Params(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Controller(ABC):
    """Sees only its own slot's rounds. `longest` is the longest draft it may ever ask for."""

    name: ClassVar[str]
    summary: ClassVar[str]
    Params: ClassVar[type[BaseModel]]

    def __init__(self, params: BaseModel) -> None:
        self.params = params

    @property
    @abstractmethod
    def longest(self) -> int: ...

    @abstractmethod
    def begin(self, slot: int) -> None:
        """A new sequence took the slot."""

    @abstractmethod
    def length(self, slot: int) -> int: ...

    @abstractmethod
    def observe(self, slot: int, drafted: int, kept: int) -> None:
        """A round ended in which `kept` of `drafted` tokens were kept."""
