"""Drafts with the target itself without some attentions and MLPs, packed like a knapsack by what they cost on this device and what they change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from app.domain.observations import LearnedFact
from runners.drafters.base import Drafter, More, Params, UnfitDrafter
from runners.engine.blocks import Beside, Skips, States
from runners.engine.chain import grow
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.left_out import LeftOut
from runners.engine.target import Target

# The longest draft that a choice considers, and the most that a block weighs in units of the lighter kind.
LONGEST, HEAVIEST = 17, 5


class KnapspecParams(Params):
    window: Annotated[int, Field(ge=1, le=128, title="Window", description="latest tokens that the states are compared on")] = 8
    every: Annotated[int, Field(ge=1, le=4096, title="Chosen every", description="rounds from one choice to the next")] = 64
    least: Annotated[float, Field(ge=-1, le=1, title="Least similarity", description="mean cosine to the full pass; below it a set is dropped")] = 0.5
    attention: Annotated[
        float | None,
        Field(gt=0, le=1000, title="Cost of an attention", description="as a multiple of an MLP's; left out, both are measured on this device"),
    ] = None


# A set of blocks left out, and the states `[n, H]` without them.
Way = tuple[Skips, Tensor]


@dataclass(frozen=True)
class Costs:
    """What an attention and an MLP cost for one token, in one unit."""

    attention: float
    mlp: float

    @property
    def weights(self) -> tuple[int, int]:
        """Both in whole units of the lighter one."""
        light, heavy = sorted((self.attention, self.mlp))
        weight = min(HEAVIEST, max(1, round(heavy / light)))
        return (weight, 1) if self.attention > self.mlp else (1, weight)

    def of(self, blocks: int, skips: Skips = frozenset()) -> float:
        """Of one token through so many blocks, without `skips`."""
        left = [block for block in range(blocks) if block not in skips]
        attentions = sum(block % 2 == 0 for block in left)
        return attentions * self.attention + (len(left) - attentions) * self.mlp


@dataclass(frozen=True)
class Choice:
    """Blocks left out, the draft length that goes with them, the share of tokens that agreed, and expected tokens per unit of cost."""

    skips: Skips
    length: int
    share: float
    worth: float


@dataclass
class Slot:
    """`held`: the states `[2L + 1, n, H]` of the latest committed tokens, the last of which stands before position `end`."""

    choice: Choice
    held: Tensor | None = None
    end: int = 0
    rounds: int = 0
    chosen: bool = False


class Knapspec(Drafter):
    """Skipped blocks as a knapsack (KnapSpec, arXiv 2602.20217). For every total weight of blocks left out, dynamic programming keeps the set whose
    states are nearest to the full pass's by mean cosine so far; of those sets, each with the share α of tokens on which its head agrees with the full
    pass's, the set and the draft length d with most expected tokens per time are chosen,

        (1 + α + … + α^d) / (d · cost of the draft's blocks + cost of all blocks),

    at the length that the text has by then. First and last layer always run, half of the weight may be left out at most, and where nothing drafted is
    worth more than plain steps nothing is drafted until the next choice.

    Interval, threshold, weights and the straight line of attention over context are the paper's. Ours: the latest `window` tokens are looked at and
    not five rounds of every 64; a quarter of the inner blocks, evenly spread, stands until the window is full; the length chosen bounds the
    controller's; when a draft ends early otherwise is the controller's matter. Costs that are measured differ from run to run, and so may the choice.
    """

    name = "knapspec"
    summary = "drafts with the target itself without blocks, packed by what they cost on this device and what they change; no weights of its own"
    Params = KnapspecParams
    shares_cache = True
    knows_confidence = True
    opens = True
    learns = True
    params: KnapspecParams

    def __init__(self, params: KnapspecParams, target: Target, chance: Chance | None = None) -> None:
        super().__init__(params, target, chance)
        self.left_out = LeftOut(target.layers)
        self.blocks = 2 * target.layers
        if target.layers < 3:
            raise UnfitDrafter(f"a target of {target.layers} layers has none between the first and the last one, which always run")
        if params.attention is None:
            target.block_costs()
        self._states = States(target.slots, halves=True)
        self.slots: dict[int, Slot] = {}

    def reset(self) -> None:
        self.left_out.clear()

    def learned(self) -> LearnedFact | None:
        return self.left_out.fact(None if self.params.attention is not None else self.target.block_costs())

    def begin(self, slot: int, ids: Sequence[int]) -> None:
        self.slots[slot] = Slot(Choice(frozenset(range(3, self.blocks - 2, 4)), LONGEST, 0.0, 0.0))

    def costs(self, entries: int) -> Costs:
        """Behind so many tokens."""
        if self.params.attention is not None:
            return Costs(self.params.attention, 1.0)
        measured = self.target.block_costs()
        return Costs(measured.attention_at(entries), measured.mlp)

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        lengths = [self._turn(slot, limit) for slot, limit in zip(batch.slots, limits, strict=True)]
        self._states.begin(batch)
        made = grow(batch, lengths, self._step, self.chance, self.target.device, more)
        return Draft.chain(made.tokens, made.lengths, probabilities=made.laws, watch=self._states)

    def observe(self, batch: Batch, kept: Sequence[int]) -> None:
        for slot, ids, accepted in zip(batch.slots, batch.ids, kept, strict=True):
            own, fresh = self.slots[slot], self._states.of(slot, 0, accepted + 1)
            own.held = (fresh if own.held is None else torch.cat([own.held, fresh], dim=1))[:, -self.params.window :].clone()
            own.end = len(ids) + accepted

    def _turn(self, slot: int, limit: int) -> int:
        """A round of the slot begins: a choice, where one is due; the length to draft."""
        own = self.slots[slot]
        own.rounds += limit > 0
        full = own.held is not None and own.held.shape[1] >= self.params.window
        if limit > 0 and full and (not own.chosen or own.rounds > self.params.every):
            assert own.held is not None
            own.choice, own.chosen, own.rounds = self.choose(slot, own.held, own.end), True, 1
        return min(limit, own.choice.length)

    def _step(self, batch: Batch, tokens: Tensor, depth: int) -> tuple[Tensor, None]:
        return self.target.skipping(batch, tokens, depth, self.left_out.note([self.slots[slot].choice.skips for slot in batch.slots])), None

    def choose(self, slot: int, states: Tensor, end: int) -> Choice:
        """By the states `[2L + 1, n, H]` of the tokens before position `end`."""
        costs = self.costs(end)
        found = self.sets(slot, states, end, costs)
        own = self.target.head(states[-1]).argmax(dim=-1)
        best = Choice(frozenset(), 0, 1.0, 1 / costs.of(self.blocks))
        for skips, state in found:
            share = (self.target.head(state).argmax(dim=-1) == own).float().mean().item()
            for length in range(1, LONGEST + 1):
                worth = sum(share**i for i in range(length + 1)) / (length * costs.of(self.blocks, skips) + costs.of(self.blocks))
                if worth > best.worth * (1 + 1e-9):
                    best = Choice(skips, length, share, worth)
        return best

    def sets(self, slot: int, states: Tensor, end: int, costs: Costs) -> list[Way]:
        """For each weight left out, the set that came through and the states `[n, H]` behind the stack without it; lightest first, none left out
        being no set."""
        weights = costs.weights
        budget = sum(weights) * self.target.layers // 2
        live: dict[int, Way] = {0: (frozenset(), states[2])}
        ways: dict[int, Beside] = {}
        for block in range(2, self.blocks - 2):
            ran = self._run(slot, block, live, end, ways) | {0: (frozenset(), states[block + 1])}
            left = {j + weights[block % 2]: (skips | {block}, state) for j, (skips, state) in live.items() if j + weights[block % 2] <= budget}
            live = {j: _nearest([way[j] for way in (ran, left) if j in way], states[block + 1]) for j in sorted(ran.keys() | left.keys())}
            live = {j: found for j, found in live.items() if j == 0 or _similarity(found[1], states[block + 1]) >= self.params.least}
        for block in (self.blocks - 2, self.blocks - 1):
            live = self._run(slot, block, live, end, ways)
        return [found for j, found in sorted(live.items()) if j > 0]

    def _run(self, slot: int, block: int, live: dict[int, Way], end: int, ways: dict[int, Beside]) -> dict[int, Way]:
        """A block over all sets but the empty one, in one forward; `ways` remembers who sees whom by how many there are."""
        ran = {j: way for j, way in live.items() if j > 0}
        if not ran:
            return {}
        count = len(next(iter(ran.values()))[1])
        if len(ran) not in ways:
            ways[len(ran)] = self._side_by_side(slot, end, count, len(ran))
        states = self.target.block(block, torch.cat([state for _, state in ran.values()]), ways[len(ran)])
        each = states.reshape(len(ran), count, -1).unbind()
        return {j: (skips, state) for (j, (skips, _)), state in zip(ran.items(), each, strict=True)}

    def _side_by_side(self, slot: int, end: int, count: int, sets: int) -> Beside:
        """The `count` tokens before `end` once for each set: those of one set see each other backwards, and all see the text before them."""
        device = self.target.device
        positions = torch.arange(end - count, end, device=device).repeat(sets)
        whose = torch.arange(sets, device=device).repeat_interleave(count)
        seen = (whose[:, None] == whose) & (positions <= positions[:, None])
        return self.target.beside(slot, positions, torch.full_like(positions, end - count), seen)


def _nearest(ways: Sequence[Way], states: Tensor) -> Way:
    """Of equals the first."""
    return max(ways, key=lambda way: _similarity(way[1], states))


def _similarity(states: Tensor, own: Tensor) -> float:
    """The mean cosine between states `[n, H]`."""
    return functional.cosine_similarity(states.float(), own.float(), dim=-1).mean().item()
