"""The only reader of time in the laboratory; no drafter may import it."""

import time

import torch


class Clock:
    """Monotonic seconds since `start()`. `settle()` waits until the device has done what was asked of it, so that a trial's ends are true;
    `wait_until()` passes idle time, which a clock that only simulates simply skips."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._origin = time.perf_counter()

    def start(self) -> None:
        self.settle()
        self._origin = time.perf_counter()

    def now(self) -> float:
        return time.perf_counter() - self._origin

    def wait_until(self, seconds: float) -> None:
        """Sleeps until the clock shows `seconds`; returns at once where it does already."""
        while (left := seconds - self.now()) > 0:
            time.sleep(left)

    def settle(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.device.type == "mps":
            torch.mps.synchronize()
