"""The slot cache against the library's own forward."""

from typing import Any

import pytest
import torch

from runners.engine.draft import Batch, Draft
from runners.engine.families import UnsupportedModel
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget
from tests.models import FAMILIES, WINDOW, loop_of, own_logits, plain_loop, prompts, spec, tiny

WINDOWED = [name for name in FAMILIES if name not in {"llama", "qwen2", "qwen3", "qwen3_moe", "olmoe"}]


@pytest.mark.parametrize("family", FAMILIES)
def test_ragged_verify_equals_full_forwards(family: str) -> None:
    """Catches wrong positions, masks or windows: three texts of different lengths (one past Gemma's window) with drafts of 0, 2 and 4 tokens."""
    target = tiny(family)
    texts = [list(range(1, 8)), list(range(3, 26)), [(7 * i) % 90 for i in range(61)]]
    drafts = [[], [5, 9], [11, 3, 60, 2]]
    for slot, text in enumerate(texts):
        target.prefill(slot, text[:-1])
    logits = target.verify(Batch((0, 1, 2), tuple(texts)), Draft.from_lists(drafts, target.device))
    for row, (text, draft) in enumerate(zip(texts, drafts, strict=True)):
        expected = own_logits(target.model, text + draft)[len(text) - 1 :]
        assert (logits[row, : len(draft) + 1] - expected).abs().max() < 1e-4


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("lengths", [(4, 4), (1, 3), (0, 4)])
def test_resumed_verify_equals_a_full_one(family: str, lengths: tuple[int, int]) -> None:
    """Catches exit states that are placed wrongly: with and without `resume` the logits are the same, ragged rows included."""
    target = tiny(family)
    texts = (list(range(2, 30)), list(range(5, 17)))
    for slot, text in enumerate(texts):
        target.prefill(slot, text[:-1])
    batch = Batch((0, 1), texts)
    drafter = loop_of(target, spec("layerskip", {"exit_layer": 4}), StopRules(10)).drafter
    draft = drafter.propose(batch, lengths)
    assert draft.resume is not None
    resumed = target.verify(batch, draft)
    full = target.verify(batch, Draft.chain(draft.tokens, draft.lengths))
    for row, length in enumerate(lengths):
        assert (resumed[row, : length + 1] - full[row, : length + 1]).abs().max() < 1e-4


@pytest.mark.parametrize("family", FAMILIES)
def test_exit_at_the_last_layer_accepts_everything(family: str) -> None:
    """Catches a draft pass that is not the target's own: with no layer skipped every draft must be kept."""
    target: Any = tiny(family)
    for sequence in loop_of(target, spec("layerskip", {"exit_layer": target.layers}), StopRules(40)).run(prompts(3), 1):
        assert sequence.verified == sequence.drafted > 0


def executions(layers: Any) -> tuple[dict[int, int], list[Any]]:
    """Positions that each layer ran, counted by hooks on the layers themselves."""
    seen = dict.fromkeys(range(len(layers)), 0)

    def hook(number: int) -> Any:
        def count(_: Any, arguments: tuple[Any, ...], __: Any) -> None:
            seen[number] += arguments[0].shape[0] * arguments[0].shape[1]

        return count

    return seen, [layer.register_forward_hook(hook(number)) for number, layer in enumerate(layers)]


def test_layerskip_runs_every_position_once_in_every_layer() -> None:
    """Catches a draft pass whose work is thrown away: early and upper layers run the same positions."""
    target: Any = tiny("llama")
    seen, hooks = executions(target.stack.layers)
    sequence = loop_of(target, spec("layerskip", {"exit_layer": 2}), StopRules(30)).run(prompts(1), 1)[0]
    for hook in hooks:
        hook.remove()
    expected = len(sequence.request.ids) + sequence.drafted + sequence.rounds + sequence.undrafted - (1 - sequence.prefill_tokens)
    assert set(seen.values()) == {expected}
    assert sum(seen.values()) == sequence.passes.prefill + sequence.passes.draft + sequence.passes.verify


def test_the_librarys_early_exit_fails_the_count_that_layerskip_passes() -> None:
    """A control of the count itself: the library drafts over a cache of its own, so that its early layers run positions twice. Were the count blind
    to that, it would prove no reuse."""
    target: Any = tiny("llama")
    request = prompts(1)[0]
    ours = plain_loop(target, StopRules(30)).run([request], 1)[0].output
    seen, hooks = executions(target.model.model.layers)
    theirs = target.model.generate(
        torch.tensor([request.ids]), attention_mask=torch.ones(1, len(request.ids), dtype=torch.long), max_new_tokens=30, do_sample=False,
        eos_token_id=None, pad_token_id=0, assistant_early_exit=2, num_assistant_tokens=4,
    )[0, len(request.ids) :].tolist()  # fmt: skip
    for hook in hooks:
        hook.remove()
    assert theirs == ours
    assert seen[0] == seen[1] > seen[2] == seen[target.layers - 1]


def test_layer_passes_of_plain_decoding_are_layers_times_positions() -> None:
    """Catches a plain arm that is charged for more or less than it runs."""
    target: Any = tiny("llama")
    sequence = plain_loop(target, StopRules(12)).run(prompts(1), 1)[0]
    assert sequence.passes.verify == target.layers * sequence.undrafted
    assert sequence.passes.prefill == target.layers * len(sequence.request.ids)


@pytest.mark.parametrize("family", FAMILIES)
def test_plain_loop_equals_the_librarys_generate(family: str) -> None:
    """Catches a plain arm that decodes something else than the library does, over 60 tokens that go past any window."""
    target: Any = tiny(family)
    request = prompts(1)[0]
    ours = plain_loop(target, StopRules(60)).run([request], 1)[0].output
    with torch.inference_mode():
        theirs = target.model.generate(
            torch.tensor([request.ids]), attention_mask=torch.ones(1, len(request.ids), dtype=torch.long), max_new_tokens=60, do_sample=False,
            eos_token_id=None, pad_token_id=0,
        )[0, len(request.ids) :].tolist()  # fmt: skip
    assert ours == theirs
    assert len(set(ours)) > 1, "a text of one token hides what is wrong"


@pytest.mark.parametrize("family", FAMILIES)
def test_prefill_equals_a_full_forward(family: str) -> None:
    """Catches a prefill whose masks, angles or last position are wrong, past the window and in a slot that held another text."""
    target = tiny(family)
    target.prefill(2, list(range(40)))
    text = [(11 * i + 5) % 90 for i in range(3 * WINDOW + 2)]
    logits = target.prefill(2, text)
    assert logits is not None
    assert (logits - own_logits(target.model, text)[-1]).abs().max() < 1e-4


@pytest.mark.parametrize("family", FAMILIES)
def test_rejected_drafts_are_as_if_never_written(family: str) -> None:
    """Catches keys and values of a rejected draft that stay visible: one row rolls back four tokens, its neighbour two, and both go on."""
    target = tiny(family)
    texts = [list(range(2, 2 * WINDOW)), [(7 * i) % 90 for i in range(9)]]
    for slot, text in enumerate(texts):
        target.prefill(slot, text[:-1])
    target.verify(Batch((0, 1), tuple(texts)), Draft.from_lists([[5, 9, 1, 8], [3, 4]], target.device))
    onward = [texts[0] + [70], texts[1] + [3, 71]]
    logits = target.verify(Batch((0, 1), tuple(onward)), Draft.from_lists([[6], []], target.device))
    for row, (text, drafts) in enumerate(zip(onward, [[6], []], strict=True)):
        expected = own_logits(target.model, text + drafts)[len(text) - 1 :]
        assert (logits[row, : len(drafts) + 1] - expected).abs().max() < 1e-4


@pytest.mark.parametrize("family", WINDOWED)
def test_the_window_is_seen(family: str) -> None:
    """Catches a test model whose window does nothing: without it the logits behind a long text are others."""
    target: Any = tiny(family)
    text = [(11 * i + 5) % 90 for i in range(3 * WINDOW + 2)]
    windowed = target.prefill(0, text)
    target.window = 1000
    assert (target.prefill(0, text) - windowed).abs().max() > 1e-2


def test_kinds_of_gemma_turn_by_angles_of_their_own() -> None:
    """Catches local and global layers that share one rotary base."""
    target: Any = tiny("gemma3")
    text = list(range(12))
    right = target.prefill(0, text)
    both = target.stack.rotary_emb.forward
    target.stack.rotary_emb.forward = lambda hidden, positions, _: both(hidden, positions, "full_attention")
    assert (target.prefill(0, text) - right).abs().max() > 1e-2


def test_softened_logits_are_the_librarys() -> None:
    """Catches a Gemma whose final soft cap is left out: its greedy text would be right and its probabilities wrong."""
    target: Any = tiny("gemma3")
    target.model.config.final_logit_softcapping = 3.0
    capped = TransformersTarget(target.model, slots=1, context=64, eos=frozenset())
    logits = capped.prefill(0, [1, 2, 3])
    assert logits is not None
    assert (logits - own_logits(capped.model, [1, 2, 3])[-1]).abs().max() < 1e-5
    assert logits.abs().max() < 3


def test_other_families_are_refused_before_they_run() -> None:
    """Catches a model with other positions or masks that would run and be wrong."""
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=32))
    with pytest.raises(UnsupportedModel, match="gpt2 adds absolute positions"):
        TransformersTarget(model, slots=1, context=32, eos=frozenset())
