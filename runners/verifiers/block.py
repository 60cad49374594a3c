"""Block verification: the draft is judged as a whole, and as much of it is kept as the target's law allows, at any temperature."""

import torch
from torch import Tensor

from runners.engine.dice import Chance
from runners.engine.draft import Accepted, Batch, Draft
from runners.verifiers.base import Verifier
from runners.verifiers.rejection import shares


class Block(Verifier):
    """Chains by Sun et al. (arXiv 2403.10444): with p₀ = 1 and pᵢ = min(1, pᵢ₋₁ · p(xᵢ) ÷ q(xᵢ)), the longest prefix i is kept whose own draw falls
    below hᵢ = Rᵢ ÷ (Rᵢ + 1 − pᵢ), Rᵢ = Σ relu(pᵢ·p − q) behind it, or below pᵢ where the draft ends. Behind it stands a draw from
    norm(relu(pᵢ·p − q)), behind a draft kept whole one from p.

    It keeps at least as many drafts as `rejection` does, in expectation. A row's draft may end where its drafter liked, as long as that hangs on the
    tokens before: P(at least i are kept | x₁ … xᵢ) = pᵢ holds at every end. A draft without probabilities was proposed with certainty: q is 1 at its
    token. As many draws are made whatever comes of them, one a draft token and one for the token behind.
    """

    name = "block"
    summary = "judges a draft as a whole: keeps more drafts than rejection on average, under the same law"
    lossless = True

    def verify(self, batch: Batch, draft: Draft, logits: Tensor, chance: Chance) -> Accepted:
        own = chance.law.probabilities(logits)  # [B, n + 1, V]
        weights = _weights(draft, own)
        judged = chance.dice.below(batch.slots, _keeping(draft, own, weights))
        kept = [max((place + 1 for place, yes in enumerate(row) if yes), default=0) for row in judged]
        behind = chance.dice.pick(batch.slots, _behind(draft, own, weights, kept))
        return Accepted(kept=kept, next=behind.tolist())


def _weights(draft: Draft, own: Tensor) -> Tensor:
    """p₀ … pₙ of each row, `[B, n + 1]`."""
    weights = [own.new_ones(len(draft.lengths), dtype=torch.float64)]
    for depth, share in enumerate(shares(draft, own).unbind(dim=1)):
        weights.append((weights[depth] * share).clamp(max=1.0))
    return torch.stack(weights, dim=1)


def _rest(draft: Draft, own: Tensor, weights: Tensor, rows: Tensor, at: Tensor) -> Tensor:
    """relu(pᵢ·p − q) `[A, V]` behind i = `at` `[A]` drafts of the rows `rows`, where another draft follows."""
    law = weights[rows, at][:, None] * own[rows, at].double()
    if draft.probabilities is None:
        return law.scatter(1, draft.tokens[rows, at][:, None], 0.0)
    return (law - draft.probabilities[rows, at].double()).relu()


def _keeping(draft: Draft, own: Tensor, weights: Tensor) -> list[list[float]]:
    """hᵢ of each row's own draft tokens."""
    rows, found = torch.arange(len(draft.lengths), device=own.device), []
    for depth in range(1, draft.width + 1):
        chance = weights[:, depth]
        if depth < draft.width:
            rest = _rest(draft, own, weights, rows, torch.full_like(rows, depth)).sum(dim=1)
            # Where p equals q and all was kept so far, nothing can be refused.
            inside = torch.where(rest + 1 - chance > 0, rest / (rest + 1 - chance), torch.ones_like(chance))
            ends = torch.tensor([length == depth for length in draft.lengths], device=own.device)
            chance = torch.where(ends, chance, inside)
        found.append(chance)
    whole = torch.stack(found, dim=1).tolist() if found else [[]] * len(draft.lengths)
    return [row[:length] for row, length in zip(whole, draft.lengths, strict=True)]


def _behind(draft: Draft, own: Tensor, weights: Tensor, kept: list[int]) -> Tensor:
    """Weights `[B, V]`, not normalised, of the token behind each row's kept drafts."""
    rows, at = torch.arange(len(kept), device=own.device), torch.tensor(kept, device=own.device)
    law = own[rows, at].double()
    refused = [r for r, (count, length) in enumerate(zip(kept, draft.lengths, strict=True)) if count < length]
    if refused:
        row = torch.tensor(refused, device=own.device)
        rest = _rest(draft, own, weights, row, at[row])
        # Only rounding can have refused a draft behind which nothing is left over.
        law[row] = torch.where(rest.sum(dim=1, keepdim=True) > 0, rest, law[row])
    return law
