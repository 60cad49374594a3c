"""The one stop rule, for every arm and every drafter."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

# A stop string of 64 characters is at most 256 bytes, hence at most 256 tokens of a byte-level vocabulary.
TAIL = 320

Ending = Literal["eos", "length", "stop"]


@dataclass(frozen=True)
class StopRules:
    """`limit` counts delivered tokens. `decode` turns ids into text; it is needed only with stop strings."""

    limit: int
    eos: frozenset[int] = frozenset()
    strings: tuple[str, ...] = ()
    decode: Callable[[Sequence[int]], str] | None = None

    def cut(self, output: list[int], fresh: list[int]) -> tuple[list[int], Ending | None]:
        """The part of `fresh` that is delivered behind `output`, and why the text ends there, if it does.

        EOS counts as a token; of a stop string the tokens up to and including the one that completes it are delivered (definitions § 1, E).
        """
        for index, token in enumerate(fresh):
            taken = fresh[: index + 1]
            if token in self.eos:
                return taken, "eos"
            if self.strings and self._completes(output, taken):
                return taken, "stop"
            if len(output) + len(taken) >= self.limit:
                return taken, "length"
        return fresh, None

    def _completes(self, output: list[int], taken: list[int]) -> bool:
        assert self.decode is not None
        text = self.decode((output + taken)[-TAIL:])
        return any(string in text for string in self.strings)
