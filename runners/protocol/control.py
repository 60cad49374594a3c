"""The control arm: the library's own plain `generate`, so that everyone can see whether our plain arm is slow."""

from typing import Any

import torch
from transformers import StoppingCriteria, StoppingCriteriaList

from runners.clock import Clock
from runners.engine.sequence import Request, Sequence
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget


class _Watch(StoppingCriteria):
    """Reads the clock once a token and applies our stop rule, since a comparison has one."""

    def __init__(self, sequence: Sequence, rules: StopRules, clock: Clock) -> None:
        self.sequence, self.rules, self.clock = sequence, rules, clock

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        token, now = int(input_ids[0, -1]), self.clock.now()
        if self.sequence.step_end:
            self.sequence.take_step(0, [], token, 1, self.rules, now)
        else:
            self.sequence.take_prefill(token, self.rules, now)
        return torch.tensor([self.sequence.finish is not None], device=input_ids.device)


class Control:
    """Greedy, one request at a time, over the library's own cache. It has no cancel: a request ends by the stop rule."""

    def __init__(self, target: TransformersTarget, rules: StopRules, clock: Clock) -> None:
        self.model, self.rules, self.clock, self.device = target.model, rules, clock, target.device

    @torch.inference_mode()
    def decode(self, request: Request) -> Sequence:
        sequence = Sequence(request, 0, self.clock.now(), list(request.ids))
        ids = torch.tensor([request.ids], dtype=torch.long, device=self.device)
        self.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=self.rules.limit,
            do_sample=False,
            # Our own rule stops it; the library would look for the end of text a second time.
            eos_token_id=None,
            pad_token_id=0,
            stopping_criteria=StoppingCriteriaList([_Watch(sequence, self.rules, self.clock)]),
        )
        return sequence
