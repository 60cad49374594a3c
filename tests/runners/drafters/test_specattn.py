"""Drafts over what the last verification attended to."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from app.domain.spec import SuiteChoice
from app.domain.suite import selection
from benchmarks import laboratory
from runners.drafters._slices import SliceDrafter, SliceParams
from runners.drafters.base import UnfitDrafter
from runners.drafters.sink_window import SinkWindow, SinkWindowParams
from runners.drafters.specattn import SpecAttn
from runners.engine.draft import Batch
from runners.engine.stops import StopRules
from runners.engine.target import Target
from runners.engine.transformers_target import TransformersTarget
from runners.models.load import load_tokenizer, load_weights
from runners.parts import UnknownPart, choose
from runners.protocol.preflight import encode
from runners.workloads import suite as suites
from tests.models import loop_of, prompts, spec, tiny
from tests.runners.engine.test_sliced import attended
from tests.runners.engine.test_transformers_target import executions

LITTLE = SliceParams(ratio=0.3, least=6)
WHOLE: dict[type[SliceDrafter], SliceParams] = {
    SpecAttn: LITTLE.model_copy(update={"ratio": 1.0}),
    SinkWindow: SinkWindowParams(ratio=1, least=6, sinks=2),
}


def running(target: Target, kind: type[SliceDrafter], params: SliceParams, *, whole: bool = False) -> Any:
    """A loop with this drafter; a `whole` one drafts although its slice leaves nothing out."""
    loop = loop_of(target, spec("specattn" if kind.needs else "sink-window", length=4), StopRules(40))
    drafter = kind(LITTLE, target, loop.chance) if kind.needs else kind(SinkWindowParams(ratio=0.3, least=6, sinks=2), target, loop.chance)
    drafter.params = params
    if whole:
        drafter._leaves_out = lambda held: held > 0
    loop.drafter = drafter
    return loop


def kept(loop: Any, concurrency: int = 3) -> tuple[int, int]:
    """Drafts that were kept, and all of them, over ten prompts."""
    done = loop.run(prompts(10), concurrency)
    return sum(s.verified for s in done), sum(s.drafted for s in done)


@pytest.mark.parametrize("kind", [SpecAttn, SinkWindow])
@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3"])
def test_with_a_ratio_of_1_everything_is_accepted(family: str, kind: type[SliceDrafter]) -> None:
    """Known truth. Catches a draft that lacks an entry, the pending token or an earlier draft, or has them at another position."""
    for concurrency in (1, 3):
        verified, drafted = kept(running(tiny(family), kind, WHOLE[kind], whole=True), concurrency)
        assert verified == drafted > 200


class Shifted(TransformersTarget):
    """Broken: each draft stands one place too far from the text."""

    def over(self, batch: Batch, part: Any, tokens: torch.Tensor, depth: int) -> torch.Tensor:
        return super().over(batch, part, tokens, depth + 1)


class Forgetful(TransformersTarget):
    """Broken: a draft does not see the one before it."""

    @torch.inference_mode()
    def over(self, batch: Batch, part: Any, tokens: torch.Tensor, depth: int) -> torch.Tensor:
        if depth:
            part.where[:, :, part.filled - 1] = -1
        return super().over(batch, part, tokens, depth)


class Mixed(TransformersTarget):
    """Broken: the entries of each layer are those of the next one."""

    def narrow(self, batch: Batch, entries: torch.Tensor, room: int) -> Any:
        made = super().narrow(batch, entries, room)
        made.keys = [*made.keys[1:], made.keys[0]]
        return made


@pytest.mark.parametrize("broken", [Shifted, Forgetful, Mixed])
def test_broken_slices_are_seen(broken: type[TransformersTarget]) -> None:
    """Negative controls of the test before."""
    model: Any = tiny("llama")
    verified, drafted = kept(running(broken(model.model, slots=4, context=256, eos=frozenset()), SpecAttn, WHOLE[SpecAttn], whole=True))
    assert verified < drafted


def chosen(drafter: SpecAttn, batch: Batch) -> list[list[set[int]]]:
    """Entries by layer and row."""
    return [[set(row.tolist()) - {-1} for row in layer] for layer in drafter.entries(batch)]


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_critical_entries_are_those_of_brute_force(family: str) -> None:
    """Catches a choice by other weights than the verification's, one choice for all layers, and newer tokens that are left out: after a whole answer
    in three slots the entries equal the largest of the library's own attention weights."""
    target = tiny(family)
    loop = running(target, SpecAttn, LITTLE)
    texts: dict[int, tuple[list[int], int]] = {}
    verify = target.verify

    def recorded(batch: Batch, draft: Any) -> Any:
        for row, slot in enumerate(batch.slots):
            texts[slot] = [*batch.ids[row], *draft.tokens[row, : draft.lengths[row]].tolist()], len(batch.ids[row]) - 1
        return verify(batch, draft)

    target.verify = recorded  # type: ignore[method-assign]
    for sequence in loop.run(prompts(3), 3):
        ids, first = texts[sequence.slot]
        held = min(len(sequence.ids) - 1, len(ids))
        budget = LITTLE.budget(held)
        weights = attended(family, ids, (first, len(ids) - 1))[:, : first + 1]
        newer = set(range(first + 1, held))
        for layer, found in enumerate(chosen(loop.drafter, Batch((sequence.slot,), (sequence.ids[: held + 1],)))):
            wanted = set(weights[layer].topk(max(0, budget - len(newer))).indices.tolist())
            seen = {int(i) for i in weights[layer].nonzero()}
            # What a layer with a window cannot see is worth nothing, so that it does not matter which of it is taken.
            assert found[0] & (seen | newer) == (wanted | newer) & (seen | newer)
            assert len(found[0]) == max(budget, len(newer))


def test_the_verification_is_all_that_is_run() -> None:
    """Catches a second forward that finds the critical entries: layers run what the counts say, position for position."""
    target: Any = tiny("llama")
    seen, _ = executions(target.stack.layers)
    sequences = running(target, SpecAttn, LITTLE).run(prompts(1), 1)
    passes = sequences[0].passes
    assert sum(seen.values()) == passes.prefill + passes.draft + passes.verify
    assert passes.draft == target.layers * sequences[0].drafted
    assert passes.verify == target.layers * (sequences[0].drafted + sequences[0].rounds + sequences[0].undrafted)


class Least(SpecAttn):
    """Takes what was attended to least."""

    def entries(self, batch: Batch) -> torch.Tensor:
        true, heeded = self.target.heeded, self.target.heeded(batch)
        self.target.heeded = lambda _: replace(heeded, weights=-heeded.weights)  # type: ignore[method-assign]
        try:
            return super().entries(batch)
        finally:
            self.target.heeded = true  # type: ignore[method-assign]


@pytest.mark.model
def test_of_a_real_model_attention_says_what_matters() -> None:
    """Catches a choice that has nothing to do with attention: of a real text the most attended entries draft far better than as many others."""
    asked = laboratory.spec("none").model_copy(update={"suite": SuiteChoice(id="parallel-v2", profiles=("summarising",), limit=2)})
    texts = encode(selection(suites.load("parallel-v2"), "en", asked.suite).prompts, load_tokenizer(laboratory.located()), asked)[1:]
    model = load_weights(laboratory.located(), torch.float32, torch.device("cpu"))
    target = TransformersTarget(model, slots=1, context=len(texts[0].ids) + 30, eos=frozenset())
    shares = {}
    for kind in (SpecAttn, Least):
        loop = running(target, kind, SliceParams(ratio=0.05, least=32))
        loop.rules = StopRules(24)
        [sequence] = loop.run(texts, 1)
        shares[kind] = sequence.verified / sequence.drafted
    assert shares[SpecAttn] > 0.2
    assert shares[Least] < 0.1


def test_both_slices_are_of_one_size() -> None:
    """Catches budgets that differ, which would compare sizes and not choices."""
    target = tiny("llama")
    loop = running(target, SpecAttn, LITTLE)
    baseline = SinkWindow(SinkWindowParams(ratio=0.3, least=6, sinks=2), target)
    for sequence in loop.run(prompts(3), 3):
        batch = Batch((sequence.slot,), (sequence.ids[:-6],))
        sizes = {len(row) for drafter in (loop.drafter, baseline) for layer in chosen(drafter, batch) for row in layer}
        assert sizes == {LITTLE.budget(len(batch.ids[0]) - 1)}


def test_a_text_that_would_be_read_whole_is_not_drafted_for() -> None:
    """Catches acceptance that is forced: a slice that leaves nothing out drafts the target's own tokens."""
    target = tiny("llama")
    loop = loop_of(target, spec("specattn", {"ratio": 0.1, "least": 40}), StopRules(40))
    sequence = loop.run(prompts(1), 1)[0]
    short, drafted = len(prompts(1)[0].ids), sequence.step_tokens[1 : 1 + sequence.undrafted]
    assert sequence.undrafted >= 41 - short - 1
    assert sequence.rounds > 0
    assert set(drafted[: 40 - short]) == {1}


@pytest.mark.parametrize("params", [{"ratio": 1.0}, {"least": 256}])
def test_a_slice_that_leaves_nothing_out_of_any_text_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(UnfitDrafter, match="leave nothing out of texts of 256 tokens"):
        SpecAttn(SliceParams(**({"ratio": 0.05, "least": 16} | params)), tiny("llama"))


def test_it_is_not_compiled() -> None:
    for name in ("specattn", "sink-window"):
        with pytest.raises(UnknownPart, match="leave compile out"):
            choose(spec(name, rule={"compile": True}))
