"""The library's own arm, counted and stopped as ours."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from runners.clock import Clock
from runners.engine.law import Law
from runners.engine.sequence import Request
from runners.engine.stops import StopRules
from runners.protocol.control import Control
from tests.models import plain_loop, prompts, tiny


def decode(rules: StopRules) -> tuple[Any, Any]:
    """The same prompt by the control and by our plain arm."""
    target: Any = tiny("llama")
    request = prompts(1)[0]
    return Control(target, rules, Clock(target.device)).decode(request), plain_loop(tiny("llama"), rules).run([request], 1)[0]


def test_control_equals_plain_in_ids_counts_and_ending() -> None:
    """Catches a control that decodes another number of tokens: its time would then be compared with a different text's."""
    control, plain = decode(StopRules(20))
    assert control.output == plain.output
    assert (control.prefill_tokens, control.undrafted, control.emitted, control.finish) == (1, 19, 20, "length")
    assert control.step_end == sorted(control.step_end)
    assert control.sent_at <= control.step_end[0]


@pytest.mark.parametrize("place", [0, 3, 8])
def test_control_stops_at_eos_where_plain_does(place: int) -> None:
    _, free = decode(StopRules(20))
    eos = frozenset({free.output[place]})
    control, plain = decode(StopRules(20, eos))
    assert (control.output, control.finish) == (plain.output, plain.finish)
    assert control.finish == "eos"


def test_a_checkpoints_own_settings_do_not_leak_in() -> None:
    """Catches a control that obeys the checkpoint's repetition penalty or top-k: it would decode another text than plain."""
    target: Any = tiny("llama")
    target.model.generation_config.update(repetition_penalty=1.8, no_repeat_ngram_size=2, do_sample=True, temperature=3.0)
    request, rules = prompts(1)[0], StopRules(20)
    control = Control(target, rules, Clock(target.device)).decode(request)
    assert control.output == plain_loop(tiny("llama"), rules).run([request], 1)[0].output


DRAWS = 500


def first_tokens(law: Law, draws: int) -> torch.Tensor:
    """How often the control begins an answer with each token."""
    target: Any = tiny("llama")
    control = Control(target, StopRules(1), Clock(target.device), law)
    request = prompts(1)[0]
    counts = torch.zeros(target.vocabulary)
    for seed in range(draws):
        counts[control.decode(replace(request, seed=seed)).output[0]] += 1
    return counts


@pytest.mark.parametrize("law", [Law(1.5), Law(1.2, top_k=7), Law(1.2, top_p=0.7)], ids=["whole", "top-k", "top-p"])
def test_the_control_draws_by_the_law_that_was_asked_for(law: Law) -> None:
    """Catches the library's own top-k of 50, an ignored setting, and draws that repeat: the law of the first token is known exactly."""
    target = tiny("llama")
    logits = target.prefill(0, prompts(1)[0].ids)
    assert logits is not None
    due, order = law.probabilities(logits).double().sort(descending=True)
    counts = first_tokens(law, DRAWS)[order]
    assert counts[due == 0].sum() == 0
    # Four groups of tokens from the likeliest to the least, the last being what a top-k of 50 would cut.
    groups = torch.tensor([int(due[:i].sum() > 0.35) + int(due[:i].sum() > 0.65) for i in range(len(due))])
    groups[50:] = 3
    for group in range(4):
        share, seen = float(due[groups == group].sum()), float(counts[groups == group].sum()) / DRAWS
        assert abs(seen - share) <= 4 * (share * (1 - share) / DRAWS) ** 0.5


def test_a_control_repeats_itself_by_seed_alone() -> None:
    """Catches draws that depend on what was decoded before."""
    target: Any = tiny("llama")
    control = Control(target, StopRules(12), Clock(target.device), Law(1.0))
    request = prompts(1)[0]
    first = control.decode(request).output
    other = control.decode(replace(request, seed=request.seed + 1)).output
    assert control.decode(request).output == first != other
    assert control.decode(Request("another name", request.ids, request.seed)).output != first
