"""Greedy verification: a draft is kept while it equals the target's own argmax."""

import torch
from torch import Tensor

from runners.engine.dice import Chance
from runners.engine.draft import Accepted, Batch, Draft
from runners.verifiers._branches import greedy
from runners.verifiers.base import Verifier


class Exact(Verifier):
    """Longest prefix of equal argmax, then the target's own token (Leviathan et al. 2023, § 2, at temperature 0); of a tree that path."""

    name = "exact"
    summary = "greedy: keeps drafts equal to the target's argmax"
    lossless = True
    greedy = True
    trees = True

    def verify(self, batch: Batch, draft: Draft, logits: Tensor, chance: Chance) -> Accepted:
        del batch, chance
        own = logits.argmax(dim=-1)  # [B, n + 1]
        if draft.tree is not None:
            return greedy(draft, own)
        if draft.width == 0:
            # A plain step is what every other is measured against, and has nothing to compare.
            return Accepted(kept=[0] * len(draft.lengths), next=own[:, 0].tolist())
        depth = torch.arange(draft.width, device=own.device)
        lengths = torch.tensor(draft.lengths, device=own.device)
        equal = (own[:, : draft.width] == draft.tokens) & (depth < lengths[:, None])
        kept = equal.long().cumprod(dim=1).sum(dim=1)
        behind = own.gather(1, kept[:, None])[:, 0]
        both = torch.stack([kept, behind]).tolist()  # one wait for the device a step
        return Accepted(kept=both[0], next=both[1])
