"""What could be had at most by a controller that asks for lengths and does not see into the drafter."""

from collections.abc import Sequence

from runners.controllers.base import Controller
from runners.simulation.costs import Costs, expected_tokens
from runners.simulation.traces import Trace


class Oracle(Controller):
    """Knows α at every position, and the costs: always asks for the best fixed length of the regime. It does not know which drafts will be kept."""

    name = "oracle"
    summary = "knows the process"

    def __init__(self, traces: Sequence[Trace], costs: Costs, longest: int) -> None:
        self._traces, self._costs, self._longest = traces, costs, longest
        self._best: dict[tuple[float, ...], int] = {}
        self.positions = [0] * len(traces)

    @property
    def longest(self) -> int:
        return self._longest

    def begin(self, slot: int) -> None:
        self.positions[slot] = 0

    def length(self, slot: int) -> int:
        return self.lengths([slot])[0]

    def lengths(self, slots: Sequence[int]) -> list[int]:
        """Rows of one batch share the width whose expected tokens, summed over them, are most a second; the shorter of equals."""
        chances = tuple(sorted(float(self._traces[slot].chance[self.positions[slot]]) for slot in slots))
        if chances not in self._best:
            goodput = [sum(expected_tokens(a, n) for a in chances) / self._costs.seconds(len(slots), n) for n in range(self._longest + 1)]
            self._best[chances] = max(range(len(goodput)), key=goodput.__getitem__)
        return [self._best[chances]] * len(slots)

    def observe(self, slot: int, drafted: int, kept: int) -> None:
        pass
