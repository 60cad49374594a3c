"""One token more or less by the acceptance of the last rounds."""

from collections import deque
from typing import Annotated

from pydantic import Field

from runners.controllers.base import Controller, Params


class WindowParams(Params):
    length: Annotated[int, Field(ge=1, le=32, title="Draft length at the start")] = 4
    longest: Annotated[int, Field(ge=1, le=32, title="Longest draft")] = 6
    rounds: Annotated[int, Field(ge=1, le=64, title="Rounds looked back on")] = 8
    low: Annotated[float, Field(ge=0, le=1, title="Shorten below", description="mean share of drafts kept")] = 0.5
    high: Annotated[float, Field(ge=0, le=1, title="Lengthen above", description="mean share of drafts kept")] = 0.8


class Window(Controller):
    """Mean of kept ÷ drafted over a window of rounds: below `low` one token fewer, above `high` one more (mission: "adaptive draft length")."""

    name = "window"
    summary = "one token more or less by the mean acceptance of the last 8 rounds"
    Params = WindowParams
    params: WindowParams

    def __init__(self, params: WindowParams) -> None:
        super().__init__(params)
        self._lengths: dict[int, int] = {}
        self._shares: dict[int, deque[float]] = {}

    @property
    def longest(self) -> int:
        return self.params.longest

    def begin(self, slot: int) -> None:
        self._lengths[slot] = self.params.length
        self._shares[slot] = deque(maxlen=self.params.rounds)

    def length(self, slot: int) -> int:
        return self._lengths[slot]

    def observe(self, slot: int, drafted: int, kept: int) -> None:
        shares = self._shares[slot]
        shares.append(kept / drafted)
        if len(shares) < self.params.rounds:
            return
        mean = sum(shares) / len(shares)
        if mean < self.params.low:
            self._lengths[slot] = max(1, self._lengths[slot] - 1)
        elif mean > self.params.high:
            self._lengths[slot] = min(self.params.longest, self._lengths[slot] + 1)
