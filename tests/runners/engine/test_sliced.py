"""Drafting over a slice of the cache, and what a forward attended to, against the library's own forwards."""

from typing import Any

import pytest
import torch

from runners.engine.draft import Batch, Draft
from runners.engine.heed import ATTENTION
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget
from tests.models import FAMILIES, WINDOW, loop_of, plain_loop, prompts, spec, tiny, tiny_model

TEXTS = [[(5 * i + 2) % 90 for i in range(20)], list(range(3, 29)), [(7 * i) % 90 for i in range(61)]]
FED = torch.tensor([[9, 4, 60], [1, 33, 2], [71, 5, 8]])


def held(family: str, needs: frozenset[str] = frozenset()) -> tuple[TransformersTarget, Batch]:
    """Three texts of different lengths in the cache, but for their last tokens."""
    target = tiny(family)
    assert isinstance(target, TransformersTarget)
    with target.supplying(needs):
        for slot, text in enumerate(TEXTS):
            target.prefill(slot, text[:-1])
    return target, Batch((0, 1, 2), tuple(list(text) for text in TEXTS))


def everything(target: TransformersTarget, *, mixed: bool) -> torch.Tensor:
    """All entries of each row; `mixed` in another order in every layer."""
    longest = max(map(len, TEXTS)) - 1
    rows = torch.stack([torch.cat([torch.arange(len(t) - 1), torch.full((longest - len(t) + 1,), -1)]) for t in TEXTS])
    entries = rows.expand(target.layers, -1, -1).clone()
    if mixed:
        torch.manual_seed(3)
        for layer in range(target.layers):
            for row, text in enumerate(TEXTS):
                entries[layer, row, : len(text) - 1] = torch.randperm(len(text) - 1)
    return entries


def stepped(target: TransformersTarget, batch: Batch, entries: torch.Tensor) -> torch.Tensor:
    """Logits `[R, 3, V]` behind the last committed tokens and two of FED, over these entries."""
    part, fed = target.narrow(batch, entries, 3), torch.cat([torch.tensor([[ids[-1]] for ids in batch.ids]), FED], dim=1)
    return torch.stack([target.over(batch, part, fed[:, depth], depth) for depth in range(3)], dim=1)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("mixed", [False, True])
def test_a_slice_of_everything_is_the_target(family: str, mixed: bool) -> None:
    """Catches wrong positions, masks and windows of a draft step, entries of another layer or row, and rows that see their padding."""
    target, batch = held(family)
    found = stepped(target, batch, everything(target, mixed=mixed))
    wanted = target.verify(batch, Draft.from_lists(FED.tolist(), target.device))[:, :3]
    assert (found - wanted).abs().max() < 1e-4


@pytest.mark.parametrize("family", ["llama", "qwen3"])
def test_what_is_left_out_is_hidden_and_nothing_else(family: str) -> None:
    """Catches a slice that still sees what it lacks, or lacks more: the library's forward with the same entries masked for the drafted tokens."""
    target, batch = held(family)
    chosen = [0, 1, 7, 11, 17, 18]
    found = stepped(target, batch, torch.tensor(chosen).expand(target.layers, 3, -1))
    for row, text in enumerate(TEXTS):
        ids = [*text, *FED[row, :2].tolist()]
        mask = torch.ones((len(ids), len(ids)), dtype=torch.bool).tril()
        mask[len(text) - 1 :, : len(text) - 1] = torch.isin(torch.arange(len(text) - 1), torch.tensor(chosen))
        with torch.inference_mode():
            wanted = target.model(torch.tensor([ids]), attention_mask=mask[None, None]).logits[0, len(text) - 1 :]
        assert (found[row] - wanted).abs().max() < 1e-4


def test_each_layer_has_entries_of_its_own() -> None:
    """Catches one layer's choice used in all of them."""
    target, batch = held("llama")
    torch.manual_seed(5)
    entries = torch.randint(19, (target.layers, 3, 4))
    part = target.narrow(batch, entries, 2)
    for layer in range(target.layers):
        for row in range(3):
            for made, cached in ((part.keys, target.cache.keys), (part.values, target.cache.values)):
                assert torch.equal(made[layer][row, :, :4], cached[layer][row][:, entries[layer, row]])


def test_rows_that_end_early_leave_the_others_alone() -> None:
    """Catches a slice whose rows are mistaken for each other once some are gone."""
    target, batch = held("gemma3")
    entries = everything(target, mixed=True)
    wanted = stepped(target, batch, entries)
    part = target.narrow(batch, entries, 3)
    target.over(batch, part, torch.tensor([ids[-1] for ids in batch.ids]), 0)
    found = target.over(batch.rows([0, 2]), part.rows([0, 2]), FED[[0, 2], 0], 1)
    assert (found - wanted[[0, 2], 1]).abs().max() < 1e-5


def test_a_draft_leaves_the_cache_as_it_was() -> None:
    """Catches drafts that are written into the cache: they hold what a part of the text says, and the target would read them."""
    target, batch = held("llama")
    before = [each.clone() for each in (*target.cache.keys, *target.cache.values)]
    stepped(target, batch, everything(target, mixed=False)[:, :, :5])
    assert all(torch.equal(a, b) for a, b in zip(before, (*target.cache.keys, *target.cache.values), strict=True))


def attended(family: str, ids: list[int], queries: tuple[int, int]) -> torch.Tensor:
    """The library's own attention weights `[layers, len(ids)]`, mean over heads and two queries."""
    model: Any = tiny_model(family)
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        found = model(torch.tensor([ids]), output_attentions=True).attentions
    return torch.stack([each[0][:, list(queries)].mean(dim=(0, 1)) for each in found])


@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3", "qwen2_window"])
def test_what_is_heeded_is_the_librarys_own_attention(family: str) -> None:
    """Catches queries of other tokens, heads or rows, a wrong scale, and layers with a window that heed what they cannot see."""
    target, batch = held(family, frozenset({ATTENTION}))
    heeded = target.heeded(batch)
    for row, text in enumerate(TEXTS):
        last = len(text) - 2
        assert (heeded.weights[:, row, : len(text) - 1] - attended(family, text[:-1], (last, last))).abs().max() < 1e-5
    drafts = [[9, 4, 60], [], [71]]
    with target.supplying(frozenset({ATTENTION})):
        target.verify(batch, Draft.from_lists(drafts, target.device))
    heeded = target.heeded(batch.rows([0, 2]))
    for at, row in enumerate([0, 2]):
        ids, first = [*TEXTS[row], *drafts[row]], len(TEXTS[row]) - 1
        assert heeded.firsts[at] == first
        assert (heeded.weights[:, at, : len(ids)] - attended(family, ids, (first, len(ids) - 1))).abs().max() < 1e-5
        assert not heeded.weights[:, at, len(ids) :].any()
    assert len(TEXTS[2]) > WINDOW


def test_forwards_of_others_keep_nothing() -> None:
    """Catches a plain arm that pays for what only another arm's drafter needs, and what it needs supplied behind its back."""
    target = tiny("llama")
    assert isinstance(target, TransformersTarget)
    loop_of(target, spec("sink-window"), StopRules(10)).run(prompts(1), 1)
    plain_loop(target, StopRules(10)).run(prompts(1), 1)
    assert not target._seen
    with pytest.raises(ValueError, match="nobody asked"):
        target.heeded(Batch((0,), ([1, 2],)))
    loop_of(target, spec("specattn"), StopRules(10)).run(prompts(1), 1)
    assert target._seen
    assert target.needs == frozenset()
