"""What rules do with a draft that branches: which path they keep, and the law of the token behind it."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from runners.engine.dice import Chance
from runners.engine.draft import Accepted, Batch, Draft
from runners.engine.tree import Tree


class ImpossibleBranch(ValueError):
    """A drafter proposed a node to which its own law, without the siblings before it, gives nothing."""


def greedy(draft: Draft, own: Tensor) -> Accepted:
    """The longest path whose every node is the target's own argmax behind its parent; `own` `[B, n + 1]` holds them. No two siblings are equal, so
    there is one such path."""
    assert draft.tree is not None
    says, tokens = own.tolist(), draft.tokens.tolist()
    paths = [walk(draft.tree, row, lambda node, at, row=row: tokens[row][node] == says[row][at]) for row in range(len(draft.lengths))]  # type: ignore[misc]
    return Accepted.of_paths(paths, [says[row][path[-1] + 1 if path else 0] for row, path in enumerate(paths)])


def sampled(batch: Batch, draft: Draft, own: Tensor, chance: Chance) -> Accepted:
    """Rejection in rounds over the children of a node, drawn without replacement: the first is kept with probability min(1, p(x) ÷ q(x)); behind a
    rejected one p becomes norm(relu(p − q)), q loses x and is normalised, and the next is asked; behind the last stands a draw from what is left of p
    (Sequoia, arXiv 2402.12374, § 3.2). A node that was proposed with certainty has q = 1. `own` `[B, n + 1, V]` is the target's law.

    Every node is decided by one draw of its own, also one that is never reached, and one more picks the token behind: a row draws as often whatever
    happened to it.
    """
    assert draft.tree is not None
    tokens = draft.tokens.tolist()
    rows = [Rounds(draft, own, row, tokens[row]) for row in range(len(draft.lengths))]
    judged = chance.dice.below(batch.slots, [row.thresholds for row in rows])
    paths = [walk(draft.tree, row, lambda node, _, row=row: judged[row][node]) for row in range(len(rows))]  # type: ignore[misc]
    weights = torch.stack([row.behind(path[-1] + 1 if path else 0) for row, path in zip(rows, paths, strict=True)])
    return Accepted.of_paths(paths, chance.dice.pick(batch.slots, weights).tolist())


def walk(tree: Tree, row: int, keeps: Callable[[int, int], bool]) -> list[int]:
    """From the last committed token down: of a node's children the first that `keeps(child, index of its parent + 1)`, until none is kept."""
    children, path, at = tree.children(row), list[int](), 0
    while (kept := next((node for node in children[at] if keeps(node, at)), None)) is not None:
        path.append(kept)
        at = kept + 1
    return path


class Rounds:
    """One row's thresholds, a node each: the probability to keep it once its parent was kept and its siblings before it were not."""

    def __init__(self, draft: Draft, own: Tensor, row: int, tokens: Sequence[int]) -> None:
        assert draft.tree is not None
        self._own, self._tokens = own[row], tokens
        self._drawn = None if draft.probabilities is None else draft.probabilities[row]
        self._children = draft.tree.children(row)
        self.thresholds = [0.0] * draft.lengths[row]
        for at, children in enumerate(self._children):
            self._play(at, children)

    def behind(self, at: int) -> Tensor:
        """Weights `[V]`, not normalised, of the token behind the node of index `at` − 1, all of whose children were rejected."""
        return self._play(at, self._children[at], whole=True)

    def _play(self, at: int, children: Sequence[int], *, whole: bool = False) -> Tensor:
        """Sets the thresholds of these siblings; returns what is left of the target's law behind the last, or with `whole` behind all of them."""
        left = self._own[at].double()
        q = None if self._drawn is None or not children else self._drawn[children[0]].double()
        for number, node in enumerate(children):
            token = self._tokens[node]
            self.thresholds[node] = self._chance(left, q, token)
            if whole or number + 1 < len(children):
                left, q = _rejected(left, q, token)
        return left

    @staticmethod
    def _chance(left: Tensor, q: Tensor | None, token: int) -> float:
        if q is None:
            return float(left[token])
        if float(q[token]) <= 0:
            raise ImpossibleBranch("a drafted token has probability 0 in the drafter's own law without the siblings before it")
        return float(left[token]) / float(q[token])


def _rejected(left: Tensor, q: Tensor | None, token: int) -> tuple[Tensor, Tensor | None]:
    """What a rejected `token` leaves of the target's law and of the drafter's."""
    rest = left.clone()
    if q is None:
        rest[token] = 0.0
    else:
        rest = (left - q).relu()
        q = q.clone()
        q[token] = 0.0
        total = q.sum()
        q = q / total if float(total) > 0 else q
    # Where p equals q nothing is left over, and only rounding can have rejected the token.
    total = rest.sum()
    return (rest / total if float(total) > 0 else left), q
