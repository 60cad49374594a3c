"""The control arm: the library's own plain `generate`, so that everyone can see whether our plain arm is slow."""

from typing import Any

import torch
from transformers import GenerationConfig, StoppingCriteria, StoppingCriteriaList

from runners.clock import Clock
from runners.engine.dice import key_of
from runners.engine.law import Law
from runners.engine.sequence import Request, Sequence
from runners.engine.stops import StopRules
from runners.engine.targets import ModelTarget


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
    """One request at a time, over the library's own cache and by its own draws, from the same law as the other arms'. It has no cancel: a request
    ends by the stop rule."""

    def __init__(self, target: ModelTarget, rules: StopRules, clock: Clock, law: Law | None = None) -> None:
        self.model, self.rules, self.clock, self.device = target.model, rules, clock, target.device
        # A checkpoint's own settings (a repetition penalty, a top-k) would make another law than the one asked for.
        self.model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
        self.sampling = _sampling(law or Law())

    @torch.inference_mode()
    def decode(self, request: Request) -> Sequence:
        torch.manual_seed(key_of(request.seed, request.prompt) % 2**63)
        sequence = Sequence(request, 0, self.clock.now(), list(request.ids))
        ids = torch.tensor([request.ids], dtype=torch.long, device=self.device)
        self.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=self.rules.limit,
            # Our own rule stops it; the library would look for the end of text a second time.
            eos_token_id=None,
            pad_token_id=0,
            stopping_criteria=StoppingCriteriaList([_Watch(sequence, self.rules, self.clock)]),
            **self.sampling,
        )
        return sequence


def _sampling(law: Law) -> dict[str, Any]:
    if law.greedy:
        return {"do_sample": False}
    # What is left out falls back to the library's own: a top-k of 50.
    return {"do_sample": True, "temperature": law.temperature, "top_k": law.top_k or 0, "top_p": 1.0 if law.top_p is None else law.top_p}
