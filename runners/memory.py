"""The high-water mark of memory between two moments."""

from pathlib import Path

import torch

CLEAR, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")
# Of clear_refs: sets the high-water mark back to what is resident now (proc(5)).
RESET_PEAK = "5"


class Peak:
    """Of a CUDA device what torch had allocated; elsewhere the resident memory of this process, where the system keeps that mark."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._reset = False

    def reset(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)
            return
        try:
            CLEAR.write_text(RESET_PEAK)
        except OSError:
            self._reset = False
        else:
            self._reset = True

    def bytes(self) -> int | None:
        """The mark since `reset()`; None where the system cannot tell."""
        if self.device.type == "cuda":
            return int(torch.cuda.max_memory_allocated(self.device))
        if self.device.type != "cpu" or not self._reset:
            return None
        lines = STATUS.read_text().splitlines()
        found = next((line.split() for line in lines if line.startswith("VmHWM:")), None)
        return None if found is None else int(found[1]) * 1024
