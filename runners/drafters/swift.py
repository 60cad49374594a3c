"""Drafts with the target itself, leaving out the attentions and MLPs that a search within the text finds most dispensable."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from app.domain.observations import LearnedFact
from runners.drafters.base import Drafter, More, Params, UnfitDrafter
from runners.engine.blocks import Skips
from runners.engine.chain import grow
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.left_out import LeftOut
from runners.engine.target import Target

# Every so many tries a few blocks of the best set are exchanged; the others are drawn anew.
NEAR = 25


class SwiftParams(Params):
    ratio: Annotated[
        float, Field(ge=0, lt=1, title="Share left out", description="of the attentions and MLPs between the first layer and the last one")
    ] = 0.45
    window: Annotated[int, Field(ge=1, le=512, title="Window", description="latest tokens of the answer that a set of blocks is tried on")] = 32
    tries: Annotated[int, Field(ge=0, le=10000, title="Tries", description="sets tried in a request, one before each draft")] = 1000
    patience: Annotated[int, Field(ge=1, le=10000, title="Patience", description="tries in a row that find nothing better end the search")] = 300
    enough: Annotated[float, Field(ge=0, le=1, title="Good enough", description="the share of agreeing tokens that ends the search")] = 0.95


@dataclass
class Search:
    """Of one request: where its answer begins, the best set so far and the share of tokens that it agreed on, None before any was tried."""

    prompt: int
    chance: np.random.Generator
    best: Skips
    share: float | None = None
    tried: int = 0
    in_vain: int = 0
    shares: list[float] = field(default_factory=list)


class Swift(Drafter):
    """Self-speculation with a set of blocks left out, found while the text is written (SWIFT, Xia et al., arXiv 2410.06916). First and last layer
    always run. Before each draft one other set of the same size is tried: on the answer's latest `window` tokens, all at once, how often does it say
    what the target said? The best share so far wins; the numbers are the paper's.

    Ours: every 25th try exchanges a few blocks of the best set, where the paper asks a Bayesian optimiser; before the first try the set is spread
    evenly; each tried token sees the target's own keys and values of those before it; the search ends with its request; drafts are chains, and when
    they end early is the controller's matter.
    """

    name = "swift"
    summary = "drafts with the target itself without the blocks that a search within the text leaves out; no weights of its own"
    Params = SwiftParams
    always_drafts = True
    shares_cache = True
    knows_confidence = True
    opens = True
    learns = True
    params: SwiftParams

    def __init__(self, params: SwiftParams, target: Target, chance: Chance | None = None) -> None:
        super().__init__(params, target, chance)
        self.left_out = LeftOut(target.layers)
        self._inner = range(2, 2 * target.layers - 2)
        self.size = int(len(self._inner) * params.ratio)
        if params.ratio and not self.size:
            raise UnfitDrafter(f"ratio {params.ratio:g} leaves out no block of the {target.layers} layers; the first and the last one always run")
        self.searches: dict[int, Search] = {}

    def forced(self) -> str | None:
        return None if self.size else "ratio 0 skips no block, so every draft is the target's own token"

    def reset(self) -> None:
        self.left_out.clear()

    def learned(self) -> LearnedFact | None:
        return self.left_out.fact()

    def begin(self, slot: int, ids: Sequence[int]) -> None:
        seed = int.from_bytes(hashlib.sha256(str(list(ids)).encode()).digest()[:8])
        even = np.linspace(self._inner.start, self._inner.stop - 1, self.size).round() if self.size else ()
        self.searches[slot] = Search(len(ids), np.random.default_rng(seed), frozenset(int(block) for block in even))

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        for slot, ids, limit in zip(batch.slots, batch.ids, limits, strict=True):
            if limit > 0:
                self._search(slot, ids)
        made = grow(batch, limits, self._step, self.chance, self.target.device, more)
        return Draft.chain(made.tokens, made.lengths, probabilities=made.laws)

    def _step(self, batch: Batch, tokens: Tensor, depth: int) -> tuple[Tensor, None]:
        return self.target.skipping(batch, tokens, depth, self.left_out.note([self.searches[slot].best for slot in batch.slots])), None

    def _search(self, slot: int, ids: Sequence[int]) -> None:
        """One try, unless the search is over or the answer still too short."""
        search, asked = self.searches[slot], self.params
        over = search.tried >= asked.tries or search.in_vain >= asked.patience or (search.share or 0.0) >= asked.enough
        if over or not self.size or len(ids) - search.prompt < asked.window:
            return
        tried = search.best if search.share is None else self._another(search)
        share = self._agreement(slot, ids, tried)
        search.tried += 1
        search.shares.append(share)
        better = search.share is None or share > search.share
        search.in_vain = 0 if better else search.in_vain + 1
        if better:
            search.best, search.share = tried, share

    def _another(self, search: Search) -> Skips:
        if search.tried % NEAR:
            return frozenset(search.chance.choice(self._inner, self.size, replace=False).tolist())
        inside, outside = sorted(search.best), sorted(set(self._inner) - search.best)
        moved = min(len(outside), max(1, self.size // 8))
        leaving, coming = (search.chance.choice(side, moved, replace=False).tolist() for side in (inside, outside))
        return (search.best - frozenset(leaving)) | frozenset(coming)

    def _agreement(self, slot: int, ids: Sequence[int], skips: Skips) -> float:
        """The share of the latest tokens that the blocks which are left would have said too, each behind the target's own text."""
        device, size = self.target.device, self.params.window
        known = torch.arange(len(ids) - 1 - size, len(ids) - 1, device=device)
        way = self.target.beside(slot, known, known, torch.eye(size, dtype=torch.bool, device=device))
        hidden = self.target.embed(torch.tensor(ids[-1 - size : -1], dtype=torch.long, device=device))
        for number in range(2 * self.target.layers):
            if number not in skips:
                hidden = self.target.block(number, hidden, way)
        said = self.target.head(hidden).argmax(dim=-1)
        return (said == torch.tensor(ids[-size:], device=device)).float().mean().item()
