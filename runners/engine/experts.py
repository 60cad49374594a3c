"""The experts of a sparse model: which of them a forward used, and draft steps that choose others."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

# A drafter's need of what each forward chose.
ROUTING = "routing"


@dataclass(frozen=True)
class Experts:
    """Layers of a model that have experts, how many each of them has, and to how many of those it sends a token."""

    layers: int
    count: int
    chosen: int


class Listener(Protocol):
    def route(self, logits: Tensor, weights: Tensor, chosen: Tensor, *, whole: bool) -> tuple[Tensor, Tensor]:
        """Called by the router of each sparse layer in order, with its `logits` `[N, E]` of all tokens and what it would do: `weights` of the
        experts `chosen`, both `[N, k]`. What is returned in their place is done. `whole`: weights of a token add up to 1."""
        ...


@dataclass
class Tally(Listener):
    """Notes what was chosen, and leaves it."""

    chosen: list[Tensor] = field(default_factory=list)

    def route(self, logits: Tensor, weights: Tensor, chosen: Tensor, *, whole: bool) -> tuple[Tensor, Tensor]:
        del logits, whole
        self.chosen.append(chosen)
        return weights, chosen

    def used(self, rows: int, counts: Sequence[int], experts: int) -> Tensor:
        """`[S, R, E]`: whether the first `counts[r]` tokens of row r used an expert; the others are padding."""
        taken = torch.stack(self.chosen)
        chosen = taken.reshape(len(taken), rows, -1, taken.shape[-1])
        real = torch.arange(chosen.shape[2], device=chosen.device) < torch.tensor(counts, device=chosen.device)[:, None]
        return among(chosen.masked_fill(~real[None, :, :, None], experts).flatten(2), experts)


def among(chosen: Tensor, experts: int) -> Tensor:
    """`[…, E]`: which experts are among the `chosen` `[…, m]`; the number behind the last one is none."""
    found = torch.zeros((*chosen.shape[:-1], experts + 1), dtype=torch.bool, device=chosen.device)
    return found.scatter_(-1, chosen, True)[..., :experts]


@dataclass
class Steering(Listener):
    """Sends the one token of each row to `most` experts only: those with the highest logits, to which `bonus` is added for the experts `held`
    `[S, R, E]`. They are mixed as the full softmax weighs them, restricted to them."""

    most: int
    bonus: float
    held: Tensor
    _used: list[Tensor] = field(default_factory=list)
    _wanted: list[Tensor] = field(default_factory=list)

    def route(self, logits: Tensor, weights: Tensor, chosen: Tensor, *, whole: bool) -> tuple[Tensor, Tensor]:
        scores = logits.float() + self.bonus * self.held[len(self._used)]
        own = scores.topk(self.most, dim=-1).indices
        mixed = logits.softmax(dim=-1, dtype=torch.float).gather(-1, own)
        if whole:
            mixed = mixed / mixed.sum(dim=-1, keepdim=True)
        self._used.append(own)
        self._wanted.append(chosen)
        return mixed.to(weights.dtype), own

    @property
    def used(self) -> Tensor:
        """`[S, R, E]`: the experts of the step."""
        return among(torch.stack(self._used), self.held.shape[-1])

    @property
    def wanted(self) -> Tensor:
        """`[S, R, E]`: those that the router would have chosen by itself."""
        return among(torch.stack(self._wanted), self.held.shape[-1])


class Switch:
    """One for all routers of a model: who listens to them, if anybody does."""

    listener: Listener | None = None

    @contextmanager
    def to(self, listener: Listener) -> Iterator[None]:
        self.listener = listener
        try:
            yield
        finally:
            self.listener = None


class Router(torch.nn.Module):
    """A router of transformers that lets itself be listened to."""

    def __init__(self, router: Any, switch: Switch) -> None:
        super().__init__()
        self.router, self.switch = router, switch

    def forward(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        logits, weights, chosen = self.router(hidden)
        if self.switch.listener is not None:
            weights, chosen = self.switch.listener.route(logits, weights, chosen, whole=self.router.norm_topk_prob)
        return logits, weights, chosen


def open_routers(layers: Any, switch: Switch) -> Experts | None:
    """Puts routers that can be listened to in the place of a stack's own ones; None where it has none."""
    sparse = [layer.mlp for layer in layers if hasattr(layer.mlp, "experts")]
    if not sparse:
        return None
    own = sparse[0].gate
    found = Experts(len(sparse), int(own.num_experts), int(own.top_k))
    for block in sparse:
        block.gate = Router(block.gate, switch)
    return found
