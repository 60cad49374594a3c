"""Always the same draft length."""

from typing import Annotated

from pydantic import Field

from runners.controllers.base import Controller, Params


class ConstantParams(Params):
    length: Annotated[int, Field(ge=1, le=32, title="Draft length", description="tokens drafted in every round")] = 4


class Constant(Controller):
    name = "constant"
    summary = "the same draft length in every round"
    Params = ConstantParams
    params: ConstantParams

    @property
    def longest(self) -> int:
        return self.params.length

    def begin(self, slot: int) -> None:
        pass

    def length(self, slot: int) -> int:
        return self.params.length

    def observe(self, slot: int, drafted: int, kept: int) -> None:
        pass
