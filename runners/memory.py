"""The high-water mark of memory between two moments."""

import torch


class Peak:
    """Of what torch has allocated on a CUDA device. Elsewhere there is none: a process keeps what an arm has freed, so that its mark is the same
    for every arm that follows and their difference would read as 0."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def reset(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)

    def bytes(self) -> int | None:
        """The mark since `reset()`; None where there is none."""
        return int(torch.cuda.max_memory_allocated(self.device)) if self.device.type == "cuda" else None
