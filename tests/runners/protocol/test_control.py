"""The library's own arm, counted and stopped as ours."""

from typing import Any

import pytest

from runners.clock import Clock
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
