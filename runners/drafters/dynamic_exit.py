"""Drafts with the target's first layers, as many and as far as has paid so far in this text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor

from runners.drafters.base import Drafter, More, Params, UnfitDrafter
from runners.engine.blocks import States
from runners.engine.chain import grow
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft, Resume
from runners.engine.target import Target


class DelParams(Params):
    stride: Annotated[int, Field(ge=1, le=256, title="Every so many layers", description="an exit is considered; fewer exits are judged faster")] = 2
    decay: Annotated[
        float, Field(gt=0, le=1, title="Weight of the past", description="how much a round weighs against the next one; 1 forgets nothing")
    ] = 0.9
    every: Annotated[int, Field(ge=1, le=4096, title="Judged every", description="rounds from one judgement of all exits to the next")] = 1


@dataclass
class Record:
    """Of one request: per exit the tokens that agreed with the target's own and all that were judged, both fading; and what they led to. `due`: the
    round under way is to be judged; `seen`: the states `[exits + 1, n, H]` that it left, the full pass's last."""

    agreed: list[float]
    judged: float
    exit_layer: int
    rounds: int = 0
    due: bool = False
    seen: Tensor | None = None


class DynamicExit(Drafter):
    """Early exit whose layer and draft length are chosen each round (DEL, dynamic exit layer). A full pass shows, for every exit, what the head would
    have said there; the share α of it that the target said too, over all rounds so far with older ones fading, is that exit's. Chosen are the exit ℓ
    and the length γ with most expected tokens for the layers that they run, (1 + α + … + α^γ) / (L + γ·ℓ).

    Its paper was not to be had; this is ours by descriptions of it. The layers of a round are counted as they are run here, where the verification
    goes on from the exit's states; rows of a batch that leave at different exits are verified from the bottom. Until something was judged the exit in
    the middle is taken; when a draft ends early otherwise is the controller's matter.
    """

    name = "del"
    summary = "drafts with the target's first layers, their number and the draft length chosen as the text goes; no weights of its own"
    Params = DelParams
    shares_cache = True
    knows_confidence = True
    opens = True
    learns = True
    params: DelParams

    def __init__(self, params: DelParams, target: Target, chance: Chance | None = None) -> None:
        super().__init__(params, target, chance)
        self.exits = list(range(params.stride, target.layers, params.stride))
        if not self.exits:
            raise UnfitDrafter(f"stride {params.stride} leaves no exit below the target's {target.layers} layers")
        self._states, self._due = States(target.slots, halves=False), False
        self.records: dict[int, Record] = {}

    def begin(self, slot: int, ids: Sequence[int]) -> None:
        self.records[slot] = Record([0.0] * len(self.exits), 0.0, self.exits[len(self.exits) // 2])

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        self._states.begin(batch)
        lengths = [self._turn(slot, limit) for slot, limit in zip(batch.slots, limits, strict=True)]
        self._due = any(self.records[slot].due for slot in batch.slots)
        made = grow(batch, lengths, self._step, self.chance, self.target.device, more)
        exits = {self.records[slot].exit_layer for slot, length in zip(batch.slots, lengths, strict=True) if length > 0}
        resume = Resume(exits.pop(), made.states) if len(exits) == 1 and made.states is not None and self.target.resumes else None
        return Draft.chain(made.tokens, made.lengths, probabilities=made.laws, resume=resume, watch=self._states if self._due else None)

    def observe(self, batch: Batch, kept: Sequence[int]) -> None:
        for slot, accepted in zip(batch.slots, kept, strict=True):
            if self.records[slot].due:
                self.records[slot].seen = self._states.of(slot, 0, accepted + 1)[[*self.exits, self.target.layers]].clone()

    def _turn(self, slot: int, limit: int) -> int:
        """A round of the slot begins: what the one before it showed is judged, and exit and length are chosen; the length."""
        record = self.records[slot]
        if record.seen is not None:
            said = self.target.head(record.seen).argmax(dim=-1)  # [exits + 1, n]
            same = (said[:-1] == said[-1]).sum(dim=1).tolist()
            record.agreed = [self.params.decay * past + now for past, now in zip(record.agreed, same, strict=True)]
            record.judged = self.params.decay * record.judged + said.shape[1]
            record.seen = None
        record.due = limit > 0 and record.rounds % self.params.every == 0
        record.rounds += limit > 0
        if not record.judged:
            return limit
        shares = [agreed / record.judged for agreed in record.agreed]
        record.exit_layer, length = choose(self.exits, shares, self.target.layers, limit)
        return length

    def _step(self, batch: Batch, tokens: Tensor, depth: int) -> tuple[Tensor, Tensor]:
        """Rows that leave at one exit run together."""
        exits = [self.records[slot].exit_layer for slot in batch.slots]
        parts: list[tuple[list[int], Tensor, Tensor]] = []
        for exit_layer in sorted(set(exits)):
            rows = [row for row, own in enumerate(exits) if own == exit_layer]
            logits, hidden = self.target.early(batch.rows(rows), tokens[rows], depth, exit_layer, self._states if self._due else None)
            assert hidden is not None, "a target that opens keeps its states"
            parts.append((rows, logits, hidden))
        order = torch.tensor([row for rows, _, _ in parts for row in rows], device=tokens.device).argsort()
        return torch.cat([part[1] for part in parts])[order], torch.cat([part[2] for part in parts])[order]


def choose(exits: Sequence[int], shares: Sequence[float], layers: int, longest: int) -> tuple[int, int]:
    """The exit and the length 0 … `longest` with most expected tokens for the layers run; of equals the shorter draft of the earlier exit."""

    def worth(exit_layer: int, share: float, length: int) -> float:
        return sum(share**i for i in range(length + 1)) / (layers + length * exit_layer)

    ways = [(worth(own, share, length), -length, -own) for own, share in zip(exits, shares, strict=True) for length in range(longest + 1)]
    _, length, own = max(ways)
    return -own, -length
