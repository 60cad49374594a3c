"""A tree over another drafter: the chain as its narrowest case, what goes before the verifier, and what it costs."""

from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from runners.drafters.tree_topk import TreeTopk, TreeTopkParams
from runners.engine.draft import Batch, Draft
from runners.engine.growth import Growth
from runners.engine.profiled import ProfiledLoop
from runners.engine.stops import StopRules
from runners.engine.target import Target
from runners.parts import UnknownPart, choose
from tests.models import SAMPLED, by_prompt, counts, loop_of, plain_loop, prompts, spec, tiny
from tests.runners.engine.test_transformers_target import executions

EXIT = "exit_layer=4"
NAMES = ("toy", "llama", "gemma3")


@pytest.mark.parametrize("rule", [{}, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("name", NAMES)
def test_one_path_is_the_chain(name: str, rule: dict[str, Any]) -> None:
    """Catches a tree that drafts, keeps, counts or draws otherwise than a chain where it is one: nodes as many as the depth, width 1."""
    narrow = spec("tree-topk", {"settings": EXIT, "nodes": 4, "width": 1}, rule=rule, length=4)
    tree = by_prompt(loop_of(tiny(name), narrow, StopRules(40)).run(prompts(5), 3))
    chain = by_prompt(loop_of(tiny(name), spec("layerskip", {"exit_layer": 4}, rule=rule, length=4), StopRules(40)).run(prompts(5), 3))
    assert {prompt: counts(s) for prompt, s in tree.items()} == {prompt: counts(s) for prompt, s in chain.items()}
    assert all(s.round_depth == s.round_drafted for s in tree.values())


OVER_A_MODEL = {"of": "draft-model", "settings": "model=package:tiny"}


@pytest.mark.parametrize("rule", [{}, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("name", NAMES)
def test_one_path_over_a_model_is_its_chain(name: str, rule: dict[str, Any]) -> None:
    """Catches what a tree leaves behind in the drafter's own cache, and a text that is fed to it at another place."""
    narrow = spec("tree-topk", OVER_A_MODEL | {"nodes": 4, "width": 1}, rule=rule, length=4)
    tree = by_prompt(loop_of(tiny(name), narrow, StopRules(40)).run(prompts(5), 3))
    chain = by_prompt(loop_of(tiny(name), spec("draft-model", {"model": "package:tiny"}, rule=rule, length=4), StopRules(40)).run(prompts(5), 3))
    assert {prompt: counts(s) for prompt, s in tree.items()} == {prompt: counts(s) for prompt, s in chain.items()}


@pytest.mark.parametrize("name", NAMES)
def test_a_tree_over_a_model_says_what_plain_says(name: str) -> None:
    """Catches branches of the drafter's own cache that are taken for the text, past its window too."""
    plain = by_prompt(plain_loop(tiny(name), StopRules(40)).run(prompts(4), 3))
    wide = spec("tree-topk", OVER_A_MODEL | {"nodes": 9, "width": 3}, length=4)
    drafted = by_prompt(loop_of(tiny(name), wide, StopRules(40)).run(prompts(4), 3))
    assert {prompt: s.output for prompt, s in drafted.items()} == {prompt: s.output for prompt, s in plain.items()}
    assert sum(s.verified for s in drafted.values()) > 0


def begun(name: str, **params: int) -> tuple[Target, TreeTopk, Batch]:
    target = tiny(name)
    drafter = TreeTopk(TreeTopkParams(settings=EXIT, **params), target)
    requests = prompts(3)
    for slot, request in enumerate(requests):
        target.prefill(slot, request.ids)
    return target, drafter, Batch((0, 1, 2), tuple(list(r.ids) for r in requests))


def paths(draft: Draft, row: int) -> set[tuple[int, ...]]:
    assert draft.tree is not None
    found: list[tuple[int, ...]] = []
    for token, parent in zip(draft.tokens[row].tolist(), draft.tree.parents[row], strict=False):
        found.append((*(found[parent] if parent >= 0 else ()), token))
    assert len(set(found)) == len(found)
    return set(found)


@pytest.mark.parametrize("name", NAMES)
def test_a_larger_tree_holds_the_smaller_one(name: str) -> None:
    """Catches a budget that is not spent best first: greedy, of one text, what a small tree would keep a larger one keeps too."""
    before: list[set[tuple[int, ...]]] = [set(), set(), set()]
    for nodes in (1, 3, 8, 20, 30):
        _, drafter, batch = begun(name, nodes=nodes, width=3)
        draft = drafter.propose(batch, [5, 5, 5])
        now = [paths(draft, row) for row in range(3)]
        assert all(len(each) == nodes for each in now)
        assert all(old <= new for old, new in zip(before, now, strict=True))
        before = now


@pytest.mark.parametrize("name", NAMES)
def test_the_likeliest_path_comes_first(name: str) -> None:
    """Catches a tree without the chain in it, where there is room for more than that."""
    target, drafter, batch = begun(name, nodes=40, width=3)
    tree = drafter.propose(batch, [2, 2, 2])
    chain = loop_of(target, spec("layerskip", {"exit_layer": 4}), StopRules(9)).drafter.propose(batch, [2, 2, 2])
    for row in range(3):
        assert tuple(chain.tokens[row].tolist()) in paths(tree, row)


@pytest.mark.parametrize("name", ["llama", "gemma3", "qwen2_window"])
def test_a_resumed_verify_equals_a_full_one(name: str) -> None:
    """Catches exit states of one node or row taken for another's, and nodes that no draft step has run: ragged rows, one without a draft."""
    target, drafter, batch = begun(name, nodes=9, width=3)
    draft = drafter.propose(batch, [4, 0, 1])
    assert draft.resume is not None
    assert (draft.lengths, draft.depths[1:]) == ((9, 0, 3), (0, 1))
    assert any(draft.resume.missing)
    resumed = target.verify(batch, draft)
    full = target.verify(batch, Draft(draft.tokens, draft.lengths, tree=draft.tree))
    for row, length in enumerate(draft.lengths):
        assert torch.allclose(resumed[row, : length + 1], full[row, : length + 1], atol=1e-4)


def test_passes_are_what_the_layers_ran() -> None:
    """Catches nodes that are looked at and left out for free, and exit layers that are charged twice."""
    target: Any = tiny("llama")
    seen, hooks = executions(target.stack.layers)
    narrow = spec("tree-topk", {"settings": "exit_layer=2", "nodes": 6, "width": 2}, length=4)
    sequence = loop_of(target, narrow, StopRules(30)).run(prompts(1), 1)[0]
    for hook in hooks:
        hook.remove()
    assert sum(seen.values()) == sequence.passes.prefill + sequence.passes.draft + sequence.passes.verify
    assert seen[5] == len(sequence.request.ids) + sequence.drafted + sequence.rounds + sequence.undrafted - (1 - sequence.prefill_tokens)


def test_a_controller_is_told_of_depth() -> None:
    """Catches a controller that takes nodes for a chain's length: window would see few of many kept, and never draft deeper."""
    told: list[tuple[int, int]] = []
    loop = loop_of(tiny("gemma3"), spec("tree-topk", {"settings": EXIT, "nodes": 12, "width": 3}, length=3), StopRules(30))
    loop.controller.observe = lambda slot, drafted, kept: told.append((drafted, kept))  # type: ignore[method-assign]
    sequence = loop.run(prompts(1), 1)[0]
    assert told == list(zip(sequence.round_depth, sequence.round_verified, strict=True))
    assert max(drafted for drafted, _ in told) <= 3 < max(sequence.round_drafted)


CHILDREN = st.lists(st.lists(st.floats(0.01, 1), min_size=1, max_size=4), min_size=1, max_size=40)


@given(CHILDREN, st.integers(1, 30), st.integers(1, 4))
def test_what_is_chosen_is_a_tree(shares: list[list[float]], nodes: int, width: int) -> None:
    """Catches a node without its parent or before it, siblings out of order, a column used twice, and a level wider than allowed."""
    growth, given_shares = Growth(7, nodes, width), iter(shares)
    while growth.frontier and (level := [next(given_shares, None) for _ in growth.frontier])[0] is not None:
        for index, children in zip(list(growth.frontier), level, strict=True):
            rest = list(children or [])
            total = sum(rest)
            for token in range(min(width, len(rest))):
                best, drawn = max(rest), (min if token % 2 else max)(rest)
                growth.add(index, token, drawn / total, best / total)
                rest.remove(drawn)
        growth.advance()
        assert len(growth.frontier) <= width
    chosen = growth.chosen()
    parents, columns = growth.shape(chosen)
    assert len(chosen) == min(nodes, len(growth.sprouts))
    assert all(parent < node for node, parent in enumerate(parents))
    assert len(set(columns)) == len(columns)
    assert 0 not in columns
    for node, parent in enumerate(parents):
        assert [chosen[other] for other in range(node) if parents[other] == parent] == sorted(chosen[o] for o in range(node) if parents[o] == parent)


def test_a_draft_ends_where_nothing_deeper_could_stay() -> None:
    """Catches draft passes whose tokens are all left out."""
    growth = Growth(0, 2, 2)
    growth.add(-1, 1, 0.5, 0.5)
    growth.add(-1, 2, 0.4, 0.4)
    assert growth.advance()  # behind 1 there may be a path of 0.5
    growth.add(0, 3, 0.3, 0.3)
    growth.add(0, 4, 0.3, 0.3)
    assert not growth.advance()
    assert growth.chosen() == [0, 1]


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"of": "layerskp", "settings": EXIT}, "Did you mean layerskip"),
        ({"of": "ngram", "settings": ""}, "that a tree can grow over"),
        ({"of": "tree-topk", "settings": ""}, "that a tree can grow over"),
        ({}, "settings\n +Field required"),
        ({"settings": ""}, "settings of layerskip: exit_layer: Field required"),
        ({"settings": "exit_layer=four"}, "settings of layerskip: exit_layer"),
        ({"settings": "exit_layer=4, exit_layer=5"}, "each name once"),
        ({"settings": "exit_layer"}, "name=value"),
        ({"settings": "exit_layer=4, depth=2"}, "depth: Extra inputs"),
    ],
)
def test_a_drafter_that_cannot_bear_a_tree_is_refused(params: dict[str, Any], said: str) -> None:
    """Catches a misspelt drafter or parameter behind the tree that silently measures another one."""
    with pytest.raises(ValidationError, match=said):
        TreeTopkParams(**params)


def test_trees_are_not_compiled_and_not_judged_by_rules_of_chains() -> None:
    """Catches a run that is compiled for nothing, and a rule that takes branches for a chain."""
    asked = spec("tree-topk", {"settings": EXIT})
    with pytest.raises(UnknownPart, match="leave compile out"):
        choose(asked.model_copy(update={"compile": True}))
    with pytest.raises(UnknownPart, match="judges chains"):
        choose(spec("tree-topk", {"settings": EXIT}, rule={"verifier": "block"}))


def test_what_the_tree_stands_on_speaks_for_it() -> None:
    """Catches a passport that denies the shared cache, and a forced acceptance that is measured."""
    chosen = choose(spec("tree-topk", {"settings": "exit_layer=6", "nodes": 20, "width": 3}, length=5))
    assert (chosen.source.name, chosen.source.shares_cache, chosen.columns) == ("layerskip", True, 20)
    drafter = TreeTopk(TreeTopkParams(settings="exit_layer=6", nodes=20, width=3), tiny("llama"))
    assert "skips no layer" in (drafter.forced() or "")
    assert [drafter.most(n) for n in (0, 1, 2, 3)] == [0, 3, 12, 20]


def test_a_profiled_tree_is_timed_by_its_nodes() -> None:
    """Catches costs of a tree that stand under its depth, where a chain's would be, and a round that is timed twice for moving its path."""
    loop = ProfiledLoop.of(loop_of(tiny("gemma3"), spec("tree-topk", {"settings": EXIT, "nodes": 12, "width": 3}, length=3), StopRules(30)))
    sequence = loop.run(prompts(1), 1)[0]
    for stage in ("draft", "verify"):
        timed = {tokens: len(times) for (of, _, tokens), times in loop.times.items() if of == stage}
        assert timed == Counter(sequence.round_drafted)
