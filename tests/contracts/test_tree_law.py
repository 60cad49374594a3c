"""Trees that are drawn leave the law of plain decoding alone: over 2 to 4 tokens, two and three levels deep, by enumeration of every draw.

As with chains the distributions are written out: a broken rule is invisible for some of them.
"""

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise, product
from math import prod
from typing import Any

import pytest
import torch
from torch import Tensor

from runners.drafters.tree_topk import TreeTopk, TreeTopkParams
from runners.engine.dice import Chance, Dice
from runners.engine.draft import Batch, Draft
from runners.engine.growth import Growth
from runners.engine.law import Law
from runners.engine.tree import Tree
from runners.verifiers import _branches
from runners.verifiers.base import NoParams
from runners.verifiers.rejection import Rejection
from tests.chance import law_of
from tests.contracts.test_verifiers import Joint, error, plain_law
from tests.models import ChainTarget, rolled

START = 0
CASES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "close": ((0.5, 0.3, 0.2), (0.25, 0.6, 0.15)),
    "zeros": ((0.7, 0.0, 0.3), (0.2, 0.8, 0.0)),
    "equal": ((0.5, 0.3, 0.2), (0.5, 0.3, 0.2)),
    "two": ((0.6, 0.4), (0.25, 0.75)),
    "four": ((0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.25, 0.45)),
}
SHAPES = {
    "pruned": {"nodes": 3, "width": 2},
    "whole": {"nodes": 6, "width": 2},
    "narrow": {"nodes": 2, "width": 3},
    "chain": {"nodes": 2, "width": 1},
}
Found = tuple[tuple[int, ...], tuple[int, ...]]


def propose(target: ChainTarget, shape: dict[str, int], law: Law, dice: Dice, depth: int) -> Draft:
    drafter = TreeTopk(TreeTopkParams(settings="exit_layer=1", **shape), target, Chance(law, dice))
    return drafter.propose(Batch((0,), ([START],)), [depth])


def drawn_error(case: str, shape: dict[str, int], law: Law | None = None, depth: int = 2) -> float:
    """How far the law of as many tokens as a step may deliver is from plain's. Drafts are enumerated first, what becomes of each once for all ways
    that lead to it."""
    own, early = CASES[case]
    law = law or Law(1.0)
    target = ChainTarget(rolled(own), rolled(early))
    after, batch = plain_law(target, law), Batch((0,), ([START],))
    drafts: dict[Found, Draft] = {}

    def draw(dice: Dice) -> Found:
        draft = propose(target, shape, law, dice, depth)
        assert draft.tree is not None
        key = (tuple(draft.tokens[0].tolist()), draft.tree.parents[0])
        return drafts.setdefault(key, draft) and key

    delivered: Joint = defaultdict(float)
    for key, weight in law_of(draw).items():
        for tokens, probability in law_of(judged(drafts[key], target, law, batch)).items():
            delivered[tokens] += weight * probability
    return error(finished(delivered, after, depth + 1), expected(after, depth + 1))


def finished(delivered: Joint, after: Tensor, length: int) -> Joint:
    """Plain decoding goes on to `length` tokens from where a step has ended."""
    joint: Joint = defaultdict(float)
    for tokens, probability in delivered.items():
        onward = {(*tokens, token): probability * share for token, share in enumerate(after[tokens[-1]].tolist()) if share > 0}
        for whole, mass in ({tokens: probability} if len(tokens) == length else finished(onward, after, length)).items():
            joint[whole] += mass
    return joint


def judged(draft: Draft, target: ChainTarget, law: Law, batch: Batch) -> Callable[[Dice], tuple[int, ...]]:
    logits = target.verify(batch, draft)

    def play(dice: Dice) -> tuple[int, ...]:
        accepted = Rejection(NoParams()).verify(batch, draft, logits, Chance(law, dice))
        return (*draft.tokens[0, accepted.path(0)].tolist(), accepted.next[0])

    return play


def expected(after: Tensor, length: int) -> Joint:
    return {
        tokens: float(prod(after[before, token] for before, token in pairwise((START, *tokens))))
        for tokens in product(range(len(after)), repeat=length)
    }


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case", ["close", "zeros", "equal"])
def test_drawn_trees_leave_the_law_alone(case: str, shape: str) -> None:
    """Catches any rule of drawing, of leaving out, of keeping or of recovery that changes what is said."""
    if (case, shape) == ("equal", "whole"):
        pytest.skip("as many outcomes as no other, of the two laws that differ least")
    assert drawn_error(case, SHAPES[shape]) < 1e-6


@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_deeper_trees_leave_the_law_alone(nodes: int) -> None:
    """Catches a choice over three levels that hangs on what was drawn, where the levels in between are looked at and left out again."""
    assert drawn_error("two", {"nodes": nodes, "width": 2}, depth=3) < 1e-6


def test_drawn_trees_of_a_cut_law_leave_it_alone() -> None:
    """Catches siblings beyond the law's last token, and probabilities of another temperature than the one drawn at."""
    assert drawn_error("four", SHAPES["pruned"], Law(0.8, top_k=3)) < 1e-6


@pytest.mark.parametrize("case", ["close", "zeros"])
def test_trees_that_are_certain_leave_the_law_alone(case: str) -> None:
    """Catches the same where nodes were proposed with certainty, in a tree whose second branch goes deeper than its first."""
    own, early = CASES[case]
    target, law = ChainTarget(rolled(own), rolled(early)), Law(1.0)
    draft = Draft(torch.tensor([[1, 2, 0, 2]]), (4,), tree=Tree(((-1, -1, 1, 1),), ((1, 2, 3, 4),)))
    after = plain_law(target, law)
    found = law_of(judged(draft, target, law, Batch((0,), ([START],))))
    assert error(finished(found, after, 3), expected(after, 3)) < 1e-6


def by_token(self: Growth, parent: int, token: int, probability: float, best: float) -> None:
    """Broken: which of the drawn tokens stay is decided by what they are."""
    plain_add(self, parent, token, probability, probability)


def with_replacement(left: Tensor, q: Tensor | None, token: int) -> tuple[Tensor, Tensor | None]:
    """Broken: the drafter's law keeps a sibling that can no longer be drawn."""
    return plain_rejected(left, q, token)[0], q


def forgotten(left: Tensor, q: Tensor | None, token: int) -> tuple[Tensor, Tensor | None]:
    """Broken: behind a rejected sibling the target's law is what it was."""
    return left, plain_rejected(left, q, token)[1]


def last_first(self: Tree, row: int) -> list[list[int]]:
    """Broken: siblings are asked in another order than they were drawn in."""
    return [each[::-1] for each in plain_children(self, row)]


plain_add, plain_rejected, plain_children = Growth.add, _branches._rejected, Tree.children
BROKEN: dict[str, tuple[object, str, Any]] = {
    "left out by what they are": (Growth, "add", by_token),
    "with replacement": (_branches, "_rejected", with_replacement),
    "forgotten": (_branches, "_rejected", forgotten),
    "last first": (Tree, "children", last_first),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_rule_is_seen(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    """Negative control: if a broken rule passed, the enumeration would prove nothing."""
    where, name, rule = BROKEN[broken]
    monkeypatch.setattr(where, name, rule)
    assert drawn_error("close", SHAPES["pruned"]) > 1e-3


def test_a_deep_choice_by_what_was_drawn_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Growth, "add", by_token)
    assert max(drawn_error("two", {"nodes": nodes, "width": 2}, depth=3) for nodes in (3, 4)) > 1e-3


def test_every_node_is_decided_by_one_draw_of_its_own() -> None:
    """Catches draws that depend on outcomes: a batch would then differ from single runs."""
    target, law, asked = ChainTarget(rolled(CASES["close"][0]), rolled(CASES["close"][1])), Law(1.0), list[list[int]]()

    class Noting(Dice):
        def begin(self, slot: int, seed: int, prompt: str) -> None:
            pass

        def below(self, slots: Any, thresholds: Any) -> list[list[bool]]:
            asked.append([len(row) for row in thresholds])
            return [[False] * len(row) for row in thresholds]

        def pick(self, slots: Any, weights: Tensor) -> Tensor:
            return weights.argmax(dim=1)

    draft = Draft(torch.tensor([[1, 2, 0], [1, 0, 0]]), (3, 1), tree=Tree(((-1, -1, 0), (-1,)), ((1, 2, 3), (1,))))
    batch = Batch((0, 1), ([0], [1]))
    accepted = Rejection(NoParams()).verify(batch, draft, target.verify(batch, draft), Chance(law, Noting()))
    assert (asked, accepted.kept, accepted.paths) == ([[3, 1]], [0, 0], [[], []])


def test_a_node_that_its_drafter_could_not_draw_is_refused() -> None:
    """Catches a sibling drawn twice: once it is rejected its law has nothing left of it, and it would be kept always."""
    target, law = ChainTarget(rolled(CASES["close"][0]), rolled(CASES["close"][1])), Law(1.0)
    drawn = law.probabilities(torch.zeros((1, 2, 3)))
    twice = Draft(torch.tensor([[1, 1]]), (2,), probabilities=drawn, tree=Tree(((-1, -1),), ((1, 2),)))
    batch = Batch((0,), ([START],))
    with pytest.raises(_branches.ImpossibleBranch):
        Rejection(NoParams()).verify(batch, twice, target.verify(batch, twice), Chance(law))
