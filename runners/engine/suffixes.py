"""Where texts have said the same before, and what followed it there: what a tree of all their suffixes would answer."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Stands before and between texts, and is no token.
BREAK = -1
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Continuation:
    """`tokens` followed a match of `matched` tokens; `shares[i]` of the places that agreed so far went on with `tokens[i]`. `score` is how many of
    them are to be expected, were the shares probabilities."""

    matched: int = 0
    tokens: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()

    @property
    def score(self) -> float:
        return float(np.cumprod(self.shares).sum())


class Suffixes:
    """Walking down a tree of suffixes narrows a set of places token by token. Here the places of each token are listed and narrowed as they are, so
    that a token is added in constant time, texts may grow at once, and nothing is bounded but the length of a match, `depth`."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._tokens = array("q", [BREAK])
        self._places: dict[int, array[int]] = {}

    def __len__(self) -> int:
        """Tokens of all texts."""
        return sum(map(len, self._places.values()))

    def extend(self, tokens: Iterable[int]) -> None:
        """The last text goes on with these."""
        for token in tokens:
            self._places.setdefault(token, array("q")).append(len(self._tokens))
            self._tokens.append(token)

    def close(self) -> None:
        """The last text ends; what comes next is another."""
        self._tokens.append(BREAK)

    def follow(self, tail: Sequence[int], limit: int, *, factor: float, least: float) -> Continuation:
        """What most often followed the longest match of the end of `tail`; of equally frequent tokens the one said last.

        At most `limit` tokens and at most `factor` for each token matched; it ends before a path that fewer than `least` of the places took.
        """
        places, matched = self._longest(tail)
        steps = list(self._onward(places, min(limit, int(factor * matched)), least))
        return Continuation(matched, tuple(token for token, _ in steps), tuple(share for _, share in steps))

    def _longest(self, tail: Sequence[int]) -> tuple[Places, int]:
        """The places where the longest end of `tail` was said and something followed, and its length."""
        tokens, listed = self._all(), self._places.get(tail[-1]) if tail else None
        if listed is None:
            return np.empty(0, np.int64), 0
        places = np.array(listed)
        places = places[places + 1 < len(tokens)]
        places, matched = places[tokens[places + 1] != BREAK], 0
        while len(places):
            matched += 1
            # No place runs past the start of its text: a BREAK stands there.
            longer = places[tokens[places - matched] == tail[-1 - matched]] if matched < min(self.depth, len(tail)) else places[:0]
            if not len(longer):
                break
            places = longer
        return places, matched

    def _onward(self, places: Places, limit: int, least: float) -> Iterator[tuple[int, float]]:
        """(token, its share) of the most frequent path behind `places`."""
        tokens, path = self._all(), 1.0
        for _ in range(limit):
            places = places[places + 1 < len(tokens)]
            places = places[tokens[places + 1] != BREAK]
            if not len(places):
                return
            following = tokens[places + 1]
            _, which, counts = np.unique(following, return_inverse=True, return_counts=True)
            best = counts[which] == counts.max()
            token, share = int(following[best][-1]), float(counts.max() / len(places))
            path *= share
            if path < least:
                return
            yield token, share
            places = places[following == token] + 1

    def _all(self) -> Places:
        # A copy would cost as much as the texts are long; a view lives no longer than the question, since a text cannot grow under one.
        return np.frombuffer(self._tokens, np.int64)
