"""The law by which tokens are drawn: temperature, then top-k, then top-p, as transformers orders them."""

from dataclasses import dataclass

import torch
from torch import Tensor

# Most nuclei end within so many tokens; sorting a whole vocabulary takes as long as some layers.
HEAD = 1024


@dataclass(frozen=True)
class Law:
    """Temperature 0 is greedy: all mass on the argmax. Target and drafter draw by the same law, each from its own logits."""

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None

    @property
    def greedy(self) -> bool:
        return self.temperature == 0

    def probabilities(self, logits: Tensor) -> Tensor:
        """Probabilities `[…, V]` in float32 of logits `[…, V]`; what the law cuts has probability 0."""
        if self.greedy:
            return torch.nn.functional.one_hot(logits.argmax(dim=-1), logits.shape[-1]).float()
        scores = logits.float() / self.temperature
        if self.top_k is not None and self.top_k < scores.shape[-1]:
            least = scores.topk(self.top_k, dim=-1).values[..., -1:]
            scores = scores.masked_fill(scores < least, -torch.inf)
        if self.top_p is not None and self.top_p < 1:
            scores = self._nucleus(scores, self.top_p)
        return scores.softmax(dim=-1)

    @staticmethod
    def _nucleus(scores: Tensor, top_p: float) -> Tensor:
        """The fewest likeliest tokens whose probabilities reach `top_p`, and those as likely as the last of them: which of equals stays may not
        depend on how they were sorted."""
        law = scores.softmax(dim=-1)
        top = law.topk(min(HEAD, law.shape[-1]), dim=-1).values
        if top.shape[-1] < law.shape[-1] and bool((top.sum(dim=-1) < top_p).any()):
            top = law.sort(dim=-1, descending=True).values
        before = top.cumsum(dim=-1) - top
        last = (before < top_p).sum(dim=-1, keepdim=True) - 1
        return scores.masked_fill(law < top.gather(-1, last), -torch.inf)
