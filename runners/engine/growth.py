"""One row's tree while it grows: what was proposed, what is looked at next, and what goes before the verifier."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from runners.engine.tree import ROOT, Spot


@dataclass
class Sprout:
    """A proposed token. `likely` is the probability of its path by the drafter's own law; `rank` what could be known of that before it was chosen: of
    the path of the likeliest token that was left to choose. Where the likeliest is chosen both are the same. `column` and `seat` say where it was
    looked at, None until it is."""

    token: int
    parent: int
    likely: float
    rank: float
    column: int | None = None
    seat: int | None = None


class Growth:
    """Of all tokens proposed so far those `nodes` go before the verifier whose rank is highest. A rank is never above the parent's, so that they are
    a tree, and never above an earlier sibling's. It does not hang on the token itself: whether a token that was drawn goes before the verifier
    depends on what was drawn before it and on nothing that it is, which leaves the law of what is said alone."""

    def __init__(self, root: int, nodes: int, width: int) -> None:
        self.nodes, self.width = nodes, width
        self.root = Sprout(root, -1, 1.0, 1.0, ROOT)
        self.sprouts: list[Sprout] = []
        self.frontier = [-1]
        self._fresh: list[int] = []
        self._looked_at = 0

    def at(self, index: int) -> Sprout:
        """A sprout by its index; the last committed token has −1."""
        return self.root if index < 0 else self.sprouts[index]

    def spots(self) -> list[Spot]:
        """What is to be looked at."""
        return [Spot(self.at(index).token, self._path(index)) for index in self.frontier]

    def _path(self, index: int) -> tuple[int, ...]:
        if index < 0:
            return (ROOT,)
        column = self.sprouts[index].column
        assert column is not None, "a path leads over tokens that were looked at"
        return (*self._path(self.sprouts[index].parent), column)

    def add(self, parent: int, token: int, probability: float, best: float) -> None:
        """The next child of `parent`: its own probability behind it, and that of the likeliest token that was left."""
        likely = self.at(parent).likely
        self._fresh.append(len(self.sprouts))
        self.sprouts.append(Sprout(token, parent, likely * probability, likely * best))

    def advance(self) -> bool:
        """Goes on to the likeliest paths of the level just added, `width` at most; False when nothing behind them could be among the chosen."""
        bar = -1.0 if len(self.sprouts) < self.nodes else sorted((sprout.rank for sprout in self.sprouts), reverse=True)[self.nodes - 1]
        promising = [index for index in self._fresh if self.sprouts[index].likely > bar]
        self.frontier = sorted(promising, key=lambda index: -self.sprouts[index].likely)[: self.width]
        self._fresh = []
        for index in self.frontier:
            self._looked_at += 1
            self.sprouts[index].column = self._looked_at
        return bool(self.frontier)

    def chosen(self) -> list[int]:
        """Indices of the tokens that go before the verifier, best first; of equals the earlier, which is the parent and the earlier sibling."""
        order = sorted(range(len(self.sprouts)), key=lambda index: -self.sprouts[index].rank)
        return order[: self.nodes]

    def shape(self, chosen: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """(parents by index among the chosen, columns): what was looked at lies where it was, the others where nothing is that was chosen."""
        place = {index: at for at, index in enumerate(chosen)} | {-1: -1}
        taken = {column for index in chosen if (column := self.sprouts[index].column) is not None}
        free: Iterable[int] = (column for column in count(ROOT + 1) if column not in taken)
        columns = tuple(next(iter(free)) if (column := self.sprouts[index].column) is None else column for index in chosen)
        return tuple(place[self.sprouts[index].parent] for index in chosen), columns
