"""Drafts over the first tokens of a text and its latest ones."""

from typing import Annotated, Self

import torch
from pydantic import Field, model_validator
from torch import Tensor

from runners.drafters._slices import SliceDrafter, SliceParams
from runners.engine.draft import Batch


class SinkWindowParams(SliceParams):
    sinks: Annotated[int, Field(ge=0, le=4096, title="First tokens", description="of the entries read, those from the start of the text")] = 4

    @model_validator(mode="after")
    def _window_left(self) -> Self:
        if self.sinks >= self.least:
            raise ValueError("sinks must leave room for later tokens: take fewer than least")
        return self


class SinkWindow(SliceDrafter):
    """Attention sinks and a recent window (StreamingLLM, arXiv 2309.17453) as a draft of the target itself (so in MagicDec, arXiv 2408.11049).

    Positions stay what they are in the text, where StreamingLLM counts them anew inside its cache; the budget, by share of the text, is that of
    `specattn`. Both are ours.
    """

    name = "sink-window"
    summary = "drafts over the first and the latest entries of the target's own cache; no weights"
    Params = SinkWindowParams
    params: SinkWindowParams

    def entries(self, batch: Batch) -> Tensor:
        held = torch.tensor([[len(ids) - 1] for ids in batch.ids], device=self.target.device)
        kept = torch.tensor([[self.params.budget(len(ids) - 1)] for ids in batch.ids], device=self.target.device)
        index = torch.arange(int(kept.max()), device=self.target.device)
        found = torch.where(index < self.params.sinks, index, held - kept + index)
        return torch.where(index < kept, found, -1).expand(self.target.layers, -1, -1)
