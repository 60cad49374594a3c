"""Rejection sampling: the accepted text is distributed as the target's own, at any temperature."""

import torch
from torch import Tensor

from runners.engine.dice import Chance
from runners.engine.draft import Accepted, Batch, Draft
from runners.verifiers._branches import sampled
from runners.verifiers.base import Verifier


class ImpossibleDraft(ValueError):
    """A drafter proposed a token to which its own probabilities give nothing: they are not what it drew from."""


class Rejection(Verifier):
    """Chains by Leviathan et al. 2023 (arXiv 2211.17192, § 2.3) and Chen et al. 2023 (arXiv 2302.01318): draft x is kept with probability
    min(1, p(x) ÷ q(x)); behind the first rejected draft stands a draw from norm(relu(p − q)), behind a draft kept whole one from p.

    A draft without probabilities was proposed with certainty: q is 1 at its token. Every draft token of a row is decided by one draw of its own,
    also behind a rejected one, and one more picks the token behind: a row draws as often whatever happened to it. Siblings in a tree are judged one
    after the other (_branches.sampled).
    """

    name = "rejection"
    summary = "keeps drafts so often that the text follows the target's own law, at any temperature"
    lossless = True
    trees = True

    def verify(self, batch: Batch, draft: Draft, logits: Tensor, chance: Chance) -> Accepted:
        own = chance.law.probabilities(logits)  # [B, n + 1, V]
        if draft.tree is not None:
            return sampled(batch, draft, own, chance)
        chances = _keeping(draft, own)
        judged = chance.dice.below(batch.slots, chances)
        kept = [row.index(False) if False in row else len(row) for row in judged]
        behind = chance.dice.pick(batch.slots, _behind(draft, own, kept))
        return Accepted(kept=kept, next=behind.tolist())


def shares(draft: Draft, own: Tensor) -> Tensor:
    """p(x) ÷ q(x) `[B, n]` of the draft tokens; 0 in the columns past a row's own draft. Raises ImpossibleDraft."""
    at = draft.tokens[:, :, None]
    share = own[:, : draft.width].gather(2, at)[:, :, 0].double()
    if draft.probabilities is not None:
        share = share / draft.probabilities.gather(2, at)[:, :, 0].double()
    lengths = torch.tensor(draft.lengths, device=own.device)
    share = share.masked_fill(torch.arange(draft.width, device=own.device) >= lengths[:, None], 0.0)
    if not bool(share.isfinite().all()):
        raise ImpossibleDraft("a drafted token has probability 0 in the drafter's own law")
    return share


def _keeping(draft: Draft, own: Tensor) -> list[list[float]]:
    """p(x) ÷ q(x) of each row's own draft tokens."""
    return [row[:length] for row, length in zip(shares(draft, own).tolist(), draft.lengths, strict=True)]


def _behind(draft: Draft, own: Tensor, kept: list[int]) -> Tensor:
    """Weights `[B, V]`, not normalised, of the token behind each row's kept drafts."""
    rows = torch.arange(len(kept), device=own.device)
    weights = own[rows, torch.tensor(kept, device=own.device)].double()
    refused = [r for r, (count, length) in enumerate(zip(kept, draft.lengths, strict=True)) if count < length]
    if not refused:
        return weights
    at, row = torch.tensor([kept[r] for r in refused], device=own.device), torch.tensor(refused, device=own.device)
    if draft.probabilities is None:
        rest = weights[row].scatter(1, draft.tokens[row, at][:, None], 0.0)
    else:
        rest = (weights[row] - draft.probabilities[row, at].double()).relu()
    # Where p equals q nothing is left over, and only rounding can have refused the draft.
    weights[row] = torch.where(rest.sum(dim=1, keepdim=True) > 0, rest, weights[row])
    return weights
