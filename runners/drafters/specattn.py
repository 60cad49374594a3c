"""Drafts over the entries that the target's latest verification attended to most."""

import torch
from torch import Tensor

from runners.drafters._slices import SliceDrafter
from runners.engine.draft import Batch
from runners.engine.heed import ATTENTION


class SpecAttn(SliceDrafter):
    """Critical entries per layer, shared by its heads, from the attention of the first and the last token of the latest verification; the tokens
    behind the first of them stay whatever they got (SpecAttn, published as Vegas, arXiv 2602.07223).

    Kernels of attention do not give their weights away, so that the verification leaves the two queries and the weights are computed from them and
    the cached keys before the next draft, in its time and not the verification's. The newer tokens count within the budget, so that it is that of
    `sink-window` to the entry. Both are ours. In layers with a window only what the window shows can be critical.
    """

    name = "specattn"
    summary = "drafts over the entries of the target's own cache that its last verification attended to most; no weights"
    needs = frozenset({ATTENTION})
    learns = True

    def entries(self, batch: Batch) -> Tensor:
        heeded = self.target.heeded(batch)
        held = torch.tensor([[len(ids) - 1] for ids in batch.ids], device=self.target.device)
        budget = torch.tensor([[self.params.budget(len(ids) - 1)] for ids in batch.ids], device=self.target.device)
        kept = torch.maximum(budget, held - 1 - heeded.firsts[:, None])
        index = torch.arange(heeded.weights.shape[2], device=self.target.device)
        weights = heeded.weights.masked_fill(index > heeded.firsts[:, None], torch.inf).masked_fill(index >= held, -torch.inf)
        found = weights.topk(int(kept.max()), dim=-1).indices
        return torch.where(torch.arange(found.shape[2], device=found.device) < kept, found, -1)
