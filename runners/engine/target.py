"""What the loop and the drafters ask of a target model."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar

import torch
from torch import Tensor

from app.domain.compilation import Compilation
from runners.engine.blocks import Beside, BlockCosts, Skips
from runners.engine.draft import Batch, Draft, Watch
from runners.engine.experts import Experts, Steering
from runners.engine.heed import Heeded
from runners.engine.slices import Slice
from runners.engine.tree import Look


@dataclass
class Passes:
    """Layer passes of one slot's sequence: layers × positions executed, apart by what they were for. `halves`: blocks that a drafter ran by
    themselves, of which attention and MLP of a layer are two. `parts`: layers that a drafter ran without some of their blocks, each as the share that
    it ran. `replayed`: the same of what a recurrent target ran anew to take a rejected draft back, which is the verification's. `foreign`: another
    model drafts, whose layers are not the target's and are not counted.
    Of verifications that carried a draft, layer by layer: `experts_read`, the different experts that the row's own tokens were sent to, and
    `experts_chosen`, how often one was chosen; None where nobody asked.
    """

    prefill: int = 0
    draft: int = 0
    verify: int = 0
    halves: int = 0
    parts: Fraction = Fraction()
    replayed: Fraction = Fraction()
    foreign: bool = False
    experts_read: int | None = None
    experts_chosen: int | None = None

    def read(self, experts: int, chosen: int) -> None:
        """One more verification."""
        self.experts_read = (self.experts_read or 0) + experts
        self.experts_chosen = (self.experts_chosen or 0) + chosen

    @property
    def drafted(self) -> int:
        """All of the drafter's; a part of a layer is rounded up."""
        return self.draft + ceil(Fraction(self.halves, 2) + self.parts)

    @property
    def verified(self) -> int:
        """All of the verification's, rounded up too."""
        return self.verify + ceil(self.replayed)


@dataclass(frozen=True, order=True)
class Stretch:
    """Layers `first` … `last` − 1 over `positions` tokens of each row: the shape of one pass, whatever batch it is made for."""

    first: int
    last: int
    positions: int


class Target(ABC):
    """Keeps up to `slots` sequences and scores drafts behind them. `context` is the longest sequence that a slot holds, drafts included."""

    prefill_emits: ClassVar[bool] = True
    resumes: ClassVar[bool] = False
    # Whether a drafter may look between its layers and leave blocks out.
    opens: ClassVar[bool] = False
    # Whether it verifies trees, and lets a drafter read a few entries of its cache alone.
    trees: ClassVar[bool] = True
    slices: ClassVar[bool] = True

    # Layers whose attention stands beside or between other mixers, so that the model says something without it; empty where it has no others.
    attentions: tuple[int, ...] = ()
    layers: int
    experts: Experts | None = None
    vocabulary: int
    slots: int
    context: int
    eos: frozenset[int]
    device: torch.device
    weight_bytes: int | None = None
    cache_bytes: int | None = None
    compiled: Compilation | None = None

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.passes = [Passes() for _ in range(slots)]
        self.forwards = 0
        # Passes of a compiled target that fitted no compiled shape; a target that compiles nothing counts none.
        self.eager = 0
        self.needs: frozenset[str] = frozenset()

    @contextmanager
    def supplying(self, needs: frozenset[str]) -> Iterator[None]:
        """While entered, forwards keep what a drafter with these needs asks for; the forwards of others pay nothing for it."""
        self.needs = needs
        try:
            yield
        finally:
            self.needs = frozenset()

    def prefill(self, slot: int, ids: Sequence[int]) -> Tensor | None:
        """Starts a sequence in a slot. Returns the logits `[V]` behind its last id, or None from a target whose prefill emits nothing.

        Raises ValueError when the ids do not fit into `context`.
        """
        self._check_room(ids)
        self.passes[slot] = Passes()
        return self._prefill(slot, ids)

    def _check_room(self, ids: Sequence[int]) -> None:
        if not ids:
            raise ValueError("a sequence needs at least one id")
        if len(ids) >= self.context:
            raise ValueError(f"{len(ids)} ids do not fit into a context of {self.context}")

    @abstractmethod
    def _prefill(self, slot: int, ids: Sequence[int]) -> Tensor | None: ...

    @abstractmethod
    def verify(self, batch: Batch, draft: Draft) -> Tensor:
        """Logits `[B, n + 1, V]` behind each row's last committed token and behind each of its drafts, in one forward. In a tree a draft sees the
        last committed token and its own ancestors.

        Columns past a row's own draft are padding and mean nothing.
        """

    def heeded(self, batch: Batch) -> Heeded:
        """What each row's latest forward attended to. Raises ValueError where nobody asked for it."""
        raise NotImplementedError(f"{type(self).__name__} attends to nothing")

    def narrow(self, batch: Batch, entries: Tensor, room: int) -> Slice:
        """The entries `[layers, R, m]` of each row's cache, for up to `room` draft steps `over` them; −1 is no entry."""
        raise NotImplementedError(f"{type(self).__name__} has no cache to slice")

    def over(self, batch: Batch, part: Slice, tokens: Tensor, depth: int) -> Tensor:
        """One draft step through all layers over a slice of the cache: logits `[B, V]` behind `tokens` `[B]`, which stand `depth` places behind the
        last committed token, all those between them having been fed. They are kept in the slice alone."""
        raise NotImplementedError(f"{type(self).__name__} has no cache to slice")

    def routed(self, batch: Batch) -> Tensor:
        """`[S, R, E]`, layer by layer of those that have experts: the ones that each row's latest verification used, rejected drafts included, or the
        last token of its prompt. Raises ValueError where nobody asked for it."""
        raise NotImplementedError(f"{type(self).__name__} has no experts")

    def steered(self, batch: Batch, tokens: Tensor, depth: int, steering: Steering) -> Tensor:
        """One draft step as in `early` through all layers, with the experts that `steering` chooses, which then knows them: logits `[B, V]`."""
        raise NotImplementedError(f"{type(self).__name__} has no experts")

    def settle(self, batch: Batch, draft: Draft, paths: list[list[int]]) -> None:
        """Of a tree that was verified the nodes `paths` were kept, row by row: what is remembered of them stands from now on as if they had been
        drafted as a chain."""
        raise NotImplementedError(f"{type(self).__name__} verifies no trees")

    @abstractmethod
    def early(self, batch: Batch, tokens: Tensor, depth: int, exit_layer: int, watch: Watch | None = None) -> tuple[Tensor, Tensor | None]:
        """One draft step through the first `exit_layer` layers, then the model's own head.

        `tokens` `[B]` stand `depth` places behind the last committed token (0 is that token itself). Returns logits `[B, V]` and the hidden states
        `[B, H]` at the exit, or None where the target keeps none. A target that `opens` tells `watch` what it computes.
        """

    def early_tree(self, batch: Batch, look: Look, exit_layer: int) -> tuple[Tensor, Tensor | None]:
        """One draft step over several tokens of each row's growing tree: logits `[B, w, V]` behind them and hidden states `[B, w, H]` at the exit, or
        None where the target keeps none."""
        raise NotImplementedError(f"{type(self).__name__} looks at no trees")

    def skipping(self, batch: Batch, tokens: Tensor, depth: int, skips: Sequence[Skips]) -> Tensor:
        """One draft step as in `early` through all blocks but those that row r leaves out, `skips[r]`; logits `[B, V]`.

        What it writes into the cache stands where the verification of the same round writes anew, in all layers. Blocks that are left out write
        nothing, so the blocks of a row are to stay the same for a whole round.
        """
        raise self._closed()

    def unattended(self, batch: Batch, tokens: Tensor, depth: int, left_out: frozenset[int]) -> Tensor:
        """One draft step as in `early` through all layers, without the attention of those `left_out`, which are among `attentions`; logits
        `[B, V]`."""
        raise NotImplementedError(f"{type(self).__name__} says nothing without its attention")

    def scores(self, ids: Sequence[int], layers: int, left_out: frozenset[int] = frozenset()) -> Tensor:
        """Logits `[n, V]` behind each of a text's tokens, through its first `layers` layers without the attention of those `left_out`; the first
        slot's sequence is void.

        Raises ValueError when the ids do not fit into `context`.
        """
        raise self._closed()

    def embed(self, tokens: Tensor) -> Tensor:
        """The states `[…, H]` before the first block."""
        raise self._closed()

    def head(self, hidden: Tensor) -> Tensor:
        """The model's own logits `[…, V]` from states `[…, H]` behind any block."""
        raise self._closed()

    def beside(self, slot: int, positions: Tensor, known: Tensor, seen: Tensor) -> Beside:
        """Tokens at `positions` `[K]`, each of which sees the first `known` `[K]` entries of the slot's cache and of the others what `seen` `[K, K]`
        says, itself included. Nothing that they compute is kept, so that a text may be run again in other ways."""
        raise self._closed()

    def block(self, number: int, hidden: Tensor, beside: Beside) -> Tensor:
        """One block over the states `[K, H]` of such tokens."""
        raise self._closed()

    def block_costs(self) -> BlockCosts:
        """Measured on this device the first time that it is asked for."""
        raise self._closed()

    def _closed(self) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no blocks to look into")
