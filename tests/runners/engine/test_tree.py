"""Trees through the target: what a node sees, and what is left in the cache of a path that was kept."""

from typing import Any

import pytest
import torch

from runners.engine.draft import Batch, Draft
from runners.engine.tree import Look, Tree
from tests.models import FAMILIES, own_logits, tiny

# Two rows: one past every window with three branches, one short with two; columns that are neither in order nor without gaps.
TEXTS = [[(7 * i) % 90 for i in range(61)], list(range(3, 12))]
PARENTS = ((-1, -1, 0, 0, 1, 2, 5), (-1, 0, 0))
COLUMNS = ((1, 2, 3, 6, 5, 4, 9), (2, 1, 3))
TOKENS = [[5, 9, 11, 3, 60, 2, 17], [30, 31, 32]]


def drafted() -> Draft:
    padded = [row + [0] * (7 - len(row)) for row in TOKENS]
    return Draft(torch.tensor(padded), (7, 3), tree=Tree(PARENTS, COLUMNS))


def paths() -> list[list[list[int]]]:
    """Per row and node, the nodes from the root down to it."""
    found: list[list[list[int]]] = []
    for parents in PARENTS:
        found.append([])
        for node, parent in enumerate(parents):
            found[-1].append([*(found[-1][parent] if parent >= 0 else []), node])
    return found


def begun(family: str) -> tuple[Any, Batch]:
    target = tiny(family)
    # Slot 0 holds another text, so that a row that is taken for its slot shows.
    for slot, text in ((0, [50, 51, 52]), (1, TEXTS[0][:-1]), (3, TEXTS[1][:-1])):
        target.prefill(slot, text)
    return target, Batch((1, 3), tuple(list(text) for text in TEXTS))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_node_is_scored_behind_its_own_path(family: str) -> None:
    """Catches a node that sees a sibling, a gap or a pruned token, a position by column instead of depth, and a window over columns: each node's
    logits are those of the library's own forward over the text and the node's path."""
    target, batch = begun(family)
    logits = target.verify(batch, drafted())
    for row, text in enumerate(TEXTS):
        assert (logits[row, 0] - own_logits(target.model, text)[-1]).abs().max() < 1e-4
        for node, path in enumerate(paths()[row]):
            expected = own_logits(target.model, text + [TOKENS[row][each] for each in path])[-1]
            assert (logits[row, node + 1] - expected).abs().max() < 1e-4, (row, node)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kept", [([0, 2, 5, 6], [0, 2]), ([1, 4], []), ([], [0, 1]), ([0, 3], [0])])
def test_a_kept_path_lies_in_the_cache_as_a_chain_would(family: str, kept: tuple[list[int], list[int]]) -> None:
    """Catches a path that is left where it was verified, moved over itself in the wrong order, in another slot or not in all layers: the next forward
    equals one over a fresh text, also past the window."""
    target, batch = begun(family)
    draft = drafted()
    target.verify(batch, draft)
    target.settle(batch, draft, list(kept))
    onward = tuple(text + [TOKENS[row][node] for node in kept[row]] + [70 + row] for row, text in enumerate(TEXTS))
    logits = target.verify(Batch((1, 3), onward), Draft.from_lists([[6, 8], [4]], target.device))
    for row, extra in enumerate(([6, 8], [4])):
        assert (logits[row, len(extra)] - own_logits(target.model, onward[row] + extra)[-1]).abs().max() < 1e-4


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_a_path_that_is_not_moved_is_seen(family: str) -> None:
    """Negative control: without the move the next forward reads what a branch has left."""
    target, batch = begun(family)
    target.verify(batch, drafted())
    onward = TEXTS[0] + [5, 11, 2, 17, 70]
    logits = target.verify(Batch((1,), (onward,)), Draft.empty(1, target.device))
    assert (logits[0, 0] - own_logits(target.model, onward)[-1]).abs().max() > 1e-3


def test_a_window_is_counted_in_positions() -> None:
    """Catches a window over columns: a deep node far behind in columns stands near in the text, and the other way round."""
    tree = Tree(((-1, 0, 1, -1),), ((1, 2, 3, 4),))
    look = Look.at([tree.spots(0, 9, [1, 2, 3, 4])], torch.device("cpu"))
    seen = look.visible(torch.tensor([10]), 15, window=3)[0].nonzero().tolist()
    assert [key for node, key in seen if node == 3] == [11, 12, 13]  # depth 3, itself at 13: the root at 10 is out of the window
    assert [key for node, key in seen if node == 4] == [9, 10, 14]  # depth 1: reaches back to 9 though it lies in column 4


def test_a_tree_that_does_not_fit_is_refused() -> None:
    """Catches branches that are written past the cache's end or over another slot."""
    target: Any = tiny("llama", context=16)
    target.prefill(0, list(range(14)))
    wide = Draft(torch.zeros((1, 80), dtype=torch.long), (80,), tree=Tree(((-1,) * 80,), (tuple(range(1, 81)),)))
    with pytest.raises(ValueError, match="reaches past"):
        target.verify(Batch((0,), (list(range(15)),)), wide)


def test_shape_of_a_tree() -> None:
    tree = Tree(PARENTS, COLUMNS)
    assert tree.depths(0) == [1, 1, 2, 2, 2, 3, 4]
    assert (tree.height(0), tree.height(1)) == (4, 2)
    assert tree.children(0)[:4] == [[0, 1], [2, 3], [4], [5]]
    assert drafted().depths == (4, 2)
