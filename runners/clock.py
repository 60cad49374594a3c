"""The only reader of time in the laboratory; no drafter may import it."""

import time

import torch


class Clock:
    """Monotonic seconds since `start()`. `settle()` waits until the device has done what was asked of it, so that a trial's ends are true."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._origin = time.perf_counter()

    def start(self) -> None:
        self.settle()
        self._origin = time.perf_counter()

    def now(self) -> float:
        return time.perf_counter() - self._origin

    def settle(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.device.type == "mps":
            torch.mps.synchronize()
