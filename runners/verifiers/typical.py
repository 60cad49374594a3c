"""Typical acceptance: keeps what the target finds plausible enough. It changes what is said."""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor

from runners.engine.dice import Chance
from runners.engine.draft import Accepted, Batch, Draft
from runners.verifiers.base import NoParams, Verifier


class TypicalParams(NoParams):
    threshold: Annotated[
        float, Field(gt=0, le=1, title="Threshold", description="a draft with more probability than this is kept, however sure the target is")
    ] = 0.09
    alpha: Annotated[
        float, Field(gt=0, le=1, title="Share of entropy", description="times e to the minus entropy: the less sure the target, the less is asked")
    ] = 0.3


class Typical(Verifier):
    """Draft x is kept while p(x) > min(ε, δ · exp(−H(p))), ε = `threshold`, δ = `alpha`, H the entropy in nats; then a draw from p (Medusa,
    arXiv 2401.10774, with its defaults). p is the law that was asked for, cuts included, where Medusa takes the temperature alone.

    Nothing corrects for what was kept too often, so the text no longer follows the target's law. At temperature 0 it is the greedy rule; it stays
    labelled lossy there, since its name does not say at which temperature it ran.
    """

    name = "typical"
    summary = "keeps drafts that the target finds plausible enough; lossy: what is said changes"
    lossless = False
    Params = TypicalParams
    params: TypicalParams

    def verify(self, batch: Batch, draft: Draft, logits: Tensor, chance: Chance) -> Accepted:
        own = chance.law.probabilities(logits)  # [B, n + 1, V]
        ahead = own[:, : draft.width]
        entropy = torch.special.entr(ahead).sum(dim=-1)
        least = (self.params.alpha * (-entropy).exp()).clamp(max=self.params.threshold)
        depth, lengths = torch.arange(draft.width, device=own.device), torch.tensor(draft.lengths, device=own.device)
        plausible = (ahead.gather(2, draft.tokens[:, :, None])[:, :, 0] > least) & (depth < lengths[:, None])
        kept = plausible.long().cumprod(dim=1).sum(dim=1)
        rows = torch.arange(len(batch), device=own.device)
        return Accepted(kept=kept.tolist(), next=chance.dice.pick(batch.slots, own[rows, kept].double()).tolist())
