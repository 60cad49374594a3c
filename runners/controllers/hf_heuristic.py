"""The schedule `heuristic` of transformers' assisted generation: two tokens more after a draft that was kept whole, one less after any other."""

from typing import Annotated

from pydantic import Field

from runners.controllers.base import Controller, Params


class HfHeuristicParams(Params):
    length: Annotated[int, Field(ge=1, le=32, title="Draft length at the start")] = 5
    longest: Annotated[int, Field(ge=1, le=32, title="Longest draft")] = 16
    transient: Annotated[
        bool,
        Field(title="Start anew with every request", description="otherwise the length of one request carries over to the next, as in transformers"),
    ] = False


class HfHeuristic(Controller):
    """`num_assistant_tokens_schedule` "heuristic", or "heuristic_transient" with `transient` (transformers, generation/candidate_generator.py).

    The library decodes one sequence and knows no longest draft. Here the length that carries over belongs to the run, so rows of a batch share it
    and each moves it in turn; with `transient` each slot has its own.
    """

    name = "hf_heuristic"
    summary = "two tokens more after a draft that was kept whole, one less otherwise, as in transformers"
    Params = HfHeuristicParams
    params: HfHeuristicParams

    def __init__(self, params: HfHeuristicParams) -> None:
        super().__init__(params)
        self._lengths: dict[int | None, int] = {}
        self.reset()

    @property
    def longest(self) -> int:
        return self.params.longest

    def reset(self) -> None:
        self._lengths = {None: self.params.length}

    def begin(self, slot: int) -> None:
        if self.params.transient:
            self._lengths[slot] = self.params.length

    def length(self, slot: int) -> int:
        return self._lengths[self._key(slot)]

    def observe(self, slot: int, drafted: int, kept: int) -> None:
        key = self._key(slot)
        self._lengths[key] = min(self.params.longest, self._lengths[key] + 2) if kept == drafted else max(1, self._lengths[key] - 1)

    def _key(self, slot: int) -> int | None:
        return slot if self.params.transient else None
