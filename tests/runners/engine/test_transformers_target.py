"""The slot cache against the library's own forward."""

from typing import Any

import pytest
import torch

from runners.engine.draft import Batch, Draft
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget, UnsupportedModel
from tests.models import loop_of, plain_loop, prompts, spec, tiny

FAMILIES = ("llama", "gemma3")


def own_logits(target: Any, ids: list[int]) -> torch.Tensor:
    """The library's own full forward over a text, without any cache."""
    with torch.inference_mode():
        logits: torch.Tensor = target.model(torch.tensor([ids])).logits[0]
    return logits


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
        expected = own_logits(target, text + draft)[len(text) - 1 :]
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


def executions(target: Any) -> tuple[dict[int, int], list[Any]]:
    """Positions that each layer ran, counted by hooks on the layers themselves."""
    seen = dict.fromkeys(range(target.layers), 0)

    def hook(number: int) -> Any:
        def count(_: Any, arguments: tuple[Any, ...], __: Any) -> None:
            seen[number] += arguments[0].shape[0] * arguments[0].shape[1]

        return count

    return seen, [layer.register_forward_hook(hook(number)) for number, layer in enumerate(target.stack.layers)]


def test_layerskip_runs_every_position_once_in_every_layer() -> None:
    """Catches a draft pass whose work is thrown away: early and upper layers run the same positions."""
    target: Any = tiny("llama")
    seen, hooks = executions(target)
    sequence = loop_of(target, spec("layerskip", {"exit_layer": 2}), StopRules(30)).run(prompts(1), 1)[0]
    for hook in hooks:
        hook.remove()
    expected = len(sequence.request.ids) + sequence.drafted + sequence.rounds + sequence.undrafted - (1 - sequence.prefill_tokens)
    assert set(seen.values()) == {expected}
    assert sum(seen.values()) == sequence.passes.prefill + sequence.passes.draft + sequence.passes.verify


def test_layer_passes_of_plain_decoding_are_layers_times_positions() -> None:
    """Catches a plain arm that is charged for more or less than it runs."""
    target: Any = tiny("llama")
    sequence = plain_loop(target, StopRules(12)).run(prompts(1), 1)[0]
    assert sequence.passes.verify == target.layers * sequence.undrafted
    assert sequence.passes.prefill == target.layers * len(sequence.request.ids)


def test_plain_loop_equals_the_librarys_generate() -> None:
    """Catches a plain arm that decodes something else than the library does."""
    target: Any = tiny("llama")
    request = prompts(1)[0]
    ours = plain_loop(target, StopRules(40)).run([request], 1)[0].output
    with torch.inference_mode():
        theirs = target.model.generate(
            torch.tensor([request.ids]), attention_mask=torch.ones(1, len(request.ids), dtype=torch.long), max_new_tokens=40, do_sample=False,
            eos_token_id=None, pad_token_id=0,
        )[0, len(request.ids) :].tolist()  # fmt: skip
    assert ours == theirs


def test_other_families_are_refused_by_name() -> None:
    """Catches a model with other positions or masks that would run and be wrong."""
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=32))
    with pytest.raises(UnsupportedModel, match="gpt2"):
        TransformersTarget(model, slots=1, context=32, eos=frozenset())
