"""When the model's own modules compute."""

from collections.abc import Collection
from typing import Any, Self

from torch.utils.hooks import RemovableHandle

from runners.clock import Clock
from runners.engine.transformers_target import TransformersTarget


class Forwards:
    """Spans of `clock` during which the embedding, the rotary angles, a stretch of layers, the last norm or the head compute, while entered.

    `cuts` are the layers at which a forward may begin or end; between them layers follow each other at once, and a hook on each would cost what
    is to be measured. On a device that computes while Python goes on, the spans hold the asking and not the computing.
    """

    def __init__(self, target: TransformersTarget, clock: Clock, cuts: Collection[int]) -> None:
        self.target, self.clock, self.cuts = target, clock, cuts
        self.spans: list[tuple[float, float]] = []
        self._handles: list[RemovableHandle] = []
        self._began = 0.0
        self.computing = False

    def __enter__(self) -> Self:
        stack = self.target.stack
        whole = [stack.embed_tokens, stack.rotary_emb, stack.norm, self.target.ours.lm_head]
        begins = [stack.layers[cut] for cut in self.cuts if cut < self.target.layers]
        ends = [stack.layers[cut - 1] for cut in self.cuts if cut > 0]
        self._handles = [module.register_forward_pre_hook(self._begin) for module in (*whole, *begins)]
        self._handles += [module.register_forward_hook(self._end) for module in (*whole, *ends)]
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._handles:
            handle.remove()

    def between(self, start: float, end: float) -> float:
        """Seconds of the spans that began between two times of the clock."""
        return sum(after - before for before, after in self.spans if start <= before < end)

    def _begin(self, *_: Any) -> None:
        self.computing = True
        self._began = self.clock.now()

    def _end(self, *_: Any) -> None:
        self.spans.append((self._began, self.clock.now()))
        self.computing = False
