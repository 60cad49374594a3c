"""A target whose decode forwards are compiled at a few fixed shapes, with weights laid out for them."""

from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import Tensor

from app.domain.compilation import Compilation, CompiledShape
from runners.clock import Clock
from runners.engine.compiler import Pass, build, forget, hold
from runners.engine.draft import Watch
from runners.engine.slots import Aimed
from runners.engine.target import Stretch
from runners.engine.transformers_target import TransformersTarget

# Entries behind the context: for padded columns of a live row, and as many again for rows that are idle.
ROOM = 64
# Of the rows of a compiled shape, the share that must be live; a batch that is emptier runs eager.
LEAST_FULL = 0.5

# Rows, positions, first layer, last layer.
Shape = tuple[int, int, int, int]
Build = Callable[[Pass, Callable[[Pass], Tensor], bool], Pass]


class CompiledTarget(TransformersTarget):
    """Computes what its base does. A pass is padded to the smallest compiled shape that holds it: a shorter draft to the columns of the longest,
    missing rows with idle ones that write behind everything that can be seen. Padding is no work of the sequence: neither layer passes nor drafts
    nor forwards count it. What fits no shape (a prefill, a batch that is less than half full) runs eager and is counted in `eager`.

    `rows` are the batch sizes to compile, each at most `slots`; a whole batch of `slots` rows reads the cache as it lies.
    """

    def __init__(
        self, model: Any, *, slots: int, context: int, eos: frozenset[int], rows: tuple[int, ...] | None = None, build: Build = build
    ) -> None:
        super().__init__(model, slots=slots, context=context, eos=eos, margin=2 * ROOM)
        self.rows = rows or (slots,)
        self.graphs = self.device.type == "cuda"
        self.compiled: Compilation | None = None
        self._build = build
        self._passes: dict[Shape, Pass] = {}
        self._heads: dict[tuple[int, int], Pass] = {}

    @torch.inference_mode()
    def compile(self, stretches: Collection[Stretch]) -> None:
        """Compiles these stretches of layers at every batch size, and the head behind each. Overwrites the cache: no sequence may be under way.
        Targets that were compiled before can no longer be used."""
        forget()
        clock = Clock(self.device)
        if self.graphs:
            hold((*self.cache.keys, *self.cache.values))
        shapes = sorted({(rows, each.positions, each.first, each.last) for rows in self.rows for each in stretches})
        if (most := max(shape[1] for shape in shapes)) > ROOM:
            raise ValueError(f"a draft of {most - 1} tokens is longer than the {ROOM - 1} that compiled passes have room for")
        for rows, positions, first, last in shapes:
            self._passes[rows, positions, first, last] = self._pass(rows, positions, first, last)
            if (rows, positions) not in self._heads:
                self._heads[rows, positions] = self._behind(self._blank(rows, positions))
        self.compiled = Compilation(
            seconds=clock.now(),
            width=self.cache.context,
            shapes=tuple(CompiledShape(rows=r, positions=p, first=a, last=b) for r, p, a, b in shapes),
            graphs=self.graphs,
        )

    def _behind(self, blank: Tensor) -> Pass:
        return self._build(super()._head, lambda made: made(blank), self.graphs)

    def _pass(self, rows: int, positions: int, first: int, last: int) -> Pass:
        width, whole = self.cache.context, rows == self.slots

        def run(hidden: Tensor, which: Tensor, places: Tensor) -> Tensor:
            return self._through(hidden, Aimed(self.cache, which, places, width, slice(None) if whole else which), places, width, first, last)

        which = torch.arange(rows, device=self.device)
        places = self._idle(positions).repeat(rows, 1)
        return self._build(run, lambda made: made(self._blank(rows, positions), which, places), self.graphs)

    def _blank(self, rows: int, positions: int) -> Tensor:
        return torch.zeros((rows, positions, int(self.model.config.hidden_size)), dtype=self.dtype, device=self.device)

    def _idle(self, positions: int) -> Tensor:
        """Where rows without a sequence write: the last entries of the cache, which no live position reaches."""
        return torch.arange(self.cache.context - positions, self.cache.context, device=self.device)[None]

    def _fitting(self, rows: int, positions: int, held: Collection[tuple[int, int]]) -> tuple[int, int] | None:
        """The smallest of the shapes `held` that holds so many rows and positions, if it is full enough."""
        return min((s for s in held if s[0] >= rows >= LEAST_FULL * s[0] and s[1] >= positions), default=None)

    def _layers(self, hidden: Tensor, slots: tuple[int, ...], positions: Tensor, first: int, last: int, watch: Watch | None = None) -> Tensor:
        live, columns = positions.shape
        shape = self._fitting(live, columns, [(r, p) for r, p, a, b in self._passes if (a, b) == (first, last)])
        if shape is None or watch is not None:
            self.eager += 1
            return super()._layers(hidden, slots, positions, first, last, watch)
        rows, wide = shape
        behind = positions[:, -1:] + torch.arange(1, wide - columns + 1, device=self.device)
        positions = torch.cat([positions, behind], dim=1)
        if rows < self.slots:
            which, into = torch.tensor([*slots, *_others(slots, rows)], device=self.device), list(range(live))
        else:
            which, into = torch.arange(rows, device=self.device), list(slots)
        places = self._idle(wide).repeat(rows, 1)
        places[into] = positions
        given = self._blank(rows, wide)
        given[into, :columns] = hidden
        return self._passes[rows, wide, first, last](given, which, places)[into, :columns]

    def _head(self, hidden: Tensor) -> Tensor:
        stacked = hidden if hidden.dim() == 3 else hidden[:, None]
        live, columns = stacked.shape[:2]
        shape = self._fitting(live, columns, self._heads)
        if shape is None:
            self.eager += 1
            return super()._head(hidden)
        given = self._blank(*shape)
        given[:live, :columns] = stacked
        logits = self._heads[shape](given)[:live, :columns]
        return logits if hidden.dim() == 3 else logits[:, 0]


def _others(slots: tuple[int, ...], rows: int) -> list[int]:
    """Slots to fill a batch of `rows` up with: any that are not in it."""
    free = (slot for slot in range(rows + len(slots)) if slot not in slots)
    return [next(free) for _ in range(rows - len(slots))]
