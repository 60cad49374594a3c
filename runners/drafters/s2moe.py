"""Drafts with fewer experts of the target itself, preferring those in use, for as long as the next draft is worth what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor

from runners.drafters.base import Drafter, More, Params, UnfitDrafter
from runners.engine.chain import grow
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.experts import ROUTING, Steering
from runners.engine.target import Target

# Of acceptance by probability: intervals of it, and how many drafts the probability itself counts as in each.
BINS, PRIOR = 10, 4.0


class S2MoEParams(Params):
    experts: Annotated[int, Field(ge=1, le=256, title="Experts in the draft", description="that a token is sent to in each layer")] = 1
    reuse: Annotated[
        float, Field(ge=0, le=1000, title="Pull of used experts", description="added to the router's scores of those that are in use already")
    ] = 1.0
    step_cost: Annotated[float, Field(ge=0, le=100, title="Cost of a draft step", description="in plain decode steps")] = 0.5
    position_cost: Annotated[
        float, Field(ge=0, le=100, title="Cost of a position", description="what one more draft adds to the verification, in plain decode steps")
    ] = 0.1
    expert_cost: Annotated[
        float, Field(ge=0, le=1000, title="Cost of new experts", description="of as many as a plain decode step uses, in plain decode steps")
    ] = 0.5


@dataclass
class Expansion:
    """A draft as it grows: the tokens to be expected of its round, what the round costs in plain decode steps, and how probably its last draft is
    reached and kept."""

    expected: float = 1.0
    cost: float = 1.0
    survival: float = 1.0

    def paid(self, acceptance: float, cost: float) -> bool:
        """Takes in a draft; whether the round has no fewer tokens for its cost than without it."""
        before = self.expected, self.cost
        self.survival *= acceptance
        self.expected += self.survival
        self.cost += cost
        return self.expected * before[1] >= before[0] * self.cost


@dataclass
class Lessons:
    """Of one request: drafts that were judged, and those of them that were kept, by their probability; `drafted` are those of the round under way."""

    judged: list[int] = field(default_factory=lambda: [0] * BINS)
    kept: list[int] = field(default_factory=lambda: [0] * BINS)
    drafted: list[float] = field(default_factory=list)

    def acceptance(self, probability: float) -> float:
        """Of a draft to come: as of those of about its probability so far."""
        at = _bin(probability)
        return (self.kept[at] + PRIOR * probability) / (self.judged[at] + PRIOR)

    def learn(self, kept: int) -> None:
        """The round kept its first `kept` drafts; what stands behind the first rejected one was not judged."""
        for place, probability in enumerate(self.drafted[: kept + 1]):
            self.judged[_bin(probability)] += 1
            self.kept[_bin(probability)] += place < kept


def _bin(probability: float) -> int:
    return min(BINS - 1, int(probability * BINS))


class S2MoE(Drafter):
    """Self-speculation with a part of the experts (after S2-MoE, arXiv 2608.15018). Where a paper's text was not to be had the algorithm is ours:
    so it is here, in all three parts, of which descriptions give the names alone.

    Shared context: the draft reads and writes the target's own cache, and the verification writes anew what it wrote. Reuse-aware gating: in each
    layer those `experts` run whose router score is highest, after `reuse` is added to the scores of the experts that the latest verification used
    (at first the prompt's last token) or an earlier step of the draft. The verification has its own routers' full choice, so that it is exact.

    Routing-aware expansion: a draft step computes the routers' full scores, and with them the experts that the verification of the token fed will
    need. A draft costs `step_cost` + `position_cost` + its new experts: those that the position it was drawn behind needs and no earlier one of the
    round does, each at `expert_cost` over the number that a plain step uses. What the last committed token needs is a plain step's and not new; of
    the deepest draft, which was not fed, nothing is known. A row drafts on behind a draft for which expected tokens over cost did not fall. Of a
    draft that acceptance is expected which drafts of about its probability have had in this request, the probability itself counted as 4 of them.
    With all three costs 0 the controller alone ends drafts. The defaults are those
    of a device on which reading experts is half of a plain step, so that a draft step over those in use costs the other half.
    """

    name = "s2moe"
    summary = "drafts with fewer experts of the target itself, those in use first, for as long as it pays; no weights of its own"
    Params = S2MoEParams
    needs = frozenset({ROUTING})
    always_drafts = True
    shares_cache = True
    knows_confidence = True
    routes = True
    learns = True
    params: S2MoEParams

    def __init__(self, params: S2MoEParams, target: Target, chance: Chance | None = None) -> None:
        super().__init__(params, target, chance)
        assert target.experts is not None, "the base refuses a target without experts"
        self.experts = target.experts
        if params.experts > self.experts.chosen:
            raise UnfitDrafter(f"experts {params.experts} is more than the {self.experts.chosen} that this target sends a token to")
        self._lessons: dict[int, Lessons] = {}
        self.each = params.expert_cost / (self.experts.layers * self.experts.chosen)

    def begin(self, slot: int, ids: Sequence[int]) -> None:
        self._lessons[slot] = Lessons()

    def observe(self, batch: Batch, kept: Sequence[int]) -> None:
        for slot, count in zip(batch.slots, kept, strict=True):
            self._lessons[slot].learn(count)

    def forced(self) -> str | None:
        if self.params.experts == self.experts.chosen and not self.params.reuse:
            return f"experts {self.params.experts} and reuse 0 leave out no expert, so every draft is the target's own token"
        return None

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        held, rows = self.target.routed(batch), {slot: row for row, slot in enumerate(batch.slots)}
        needed = torch.zeros_like(held)
        for slot in batch.slots:
            self._lessons[slot].drafted = []
        grown, fresh = {slot: Expansion() for slot in batch.slots}, dict.fromkeys(batch.slots, 0)

        def step(active: Batch, tokens: Tensor, depth: int) -> tuple[Tensor, None]:
            own = [rows[slot] for slot in active.slots]
            steering = Steering(self.params.experts, self.params.reuse, held[:, own])
            logits = self.target.steered(active, tokens, depth, steering)
            if depth:
                fresh.update(zip(active.slots, (steering.wanted & ~needed[:, own]).sum(dim=(0, 2)).tolist(), strict=True))
            held[:, own] |= steering.used
            needed[:, own] |= steering.wanted
            return logits, None

        def proceeds(slot: int, probability: float) -> bool:
            lessons = self._lessons[slot]
            lessons.drafted.append(probability)
            paid = grown[slot].paid(lessons.acceptance(probability), self.params.step_cost + self.params.position_cost + self.each * fresh[slot])
            return (more is None or more(slot, probability)) and paid

        made = grow(batch, limits, step, self.chance, self.target.device, proceeds)
        return Draft.chain(made.tokens, made.lengths, probabilities=made.laws)
