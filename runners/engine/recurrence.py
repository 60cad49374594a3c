"""Recurrent states of slots. They cannot be cut like a cache, so that what a rejected draft did to them is undone by a snapshot and a replay."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from runners.engine.draft import Batch

# Shapes of the states of one row, by the number of the layer: the inputs `[C, K]` that a convolution still sees, and the recurrent state `[…]`.
Shapes = Mapping[int, tuple[tuple[int, ...], tuple[int, ...]]]


class Stream:
    """The states of some rows, as one forward finds and leaves them: in place of a cache for the mixers of transformers, of which each asks for its
    own layer's. `inputs` holds what each mixer was given, `[R, n, H]`, where `keeps` says so."""

    def __init__(self, windows: dict[int, Tensor], states: dict[int, Tensor]) -> None:
        self.windows, self.states = windows, states
        self.keeps = False
        self.inputs: dict[int, Tensor] = {}

    def rows(self, chosen: Sequence[int]) -> "Stream":
        """A copy for these rows alone."""
        index = list(chosen)
        return Stream({layer: each[index] for layer, each in self.windows.items()}, {layer: each[index] for layer, each in self.states.items()})

    def given(self, layer: int, hidden: Tensor) -> None:
        """The mixer of this layer is about to run over `hidden` `[R, n, H]`."""
        if self.keeps:
            self.inputs[layer] = hidden

    def get_conv_state(self, layer: int, **_: object) -> Tensor:
        return self.windows[layer]

    def get_recurrent_state(self, layer: int, **_: object) -> Tensor:
        return self.states[layer]

    def is_recording_past(self, _: int) -> bool:
        return False

    def update_conv_state(self, fresh: Tensor, layer: int, **_: object) -> Tensor:
        """Returns the window with `fresh` `[R, C, n]` behind it."""
        held = self.windows[layer]
        whole = torch.cat([held.to(fresh.dtype), fresh], dim=-1)
        self.windows[layer] = whole[..., -held.shape[-1] :].to(held.dtype)
        return whole

    def update_recurrent_state(self, state: Tensor, layer: int, **_: object) -> Tensor:
        self.states[layer] = state
        return state


# Runs the mixers over inputs `[R, m, H]` by layer, for the slots named, and leaves the stream behind them.
Replay = Callable[[Stream, dict[int, Tensor], tuple[int, ...]], None]


@dataclass(frozen=True)
class Fed:
    """What a forward fed to one slot: row `row` of the states that it left and of what its mixers were given. Of its columns the row's own `tokens`
    come first; `whole` says that there are no others, so that the states left are those behind all of them."""

    stream: Stream
    row: int
    tokens: list[int]
    whole: bool


class Snapshots:
    """Of each slot the states behind the first `held` tokens of its text, and what has been fed since.

    Which of the tokens that were fed are the text's shows when the slot is next used: `Batch.ids` names them. If it is all of them, the states that
    the forward left become the slot's; if it is fewer, the mixers run anew over those that stayed, from the snapshot on. Windows and states are
    float32 whatever the model's type is, as the library's mixers leave states.
    """

    def __init__(self, shapes: Shapes, slots: int, device: torch.device) -> None:
        self._windows = {layer: torch.zeros((slots, *window), device=device) for layer, (window, _) in shapes.items()}
        self._states = {layer: torch.zeros((slots, *state), device=device) for layer, (_, state) in shapes.items()}
        self._held: list[int | None] = [None] * slots
        self._fed: dict[int, Fed] = {}

    def fresh(self) -> Stream:
        """One row of an empty text."""
        empty = ({layer: torch.zeros_like(each[:1]) for layer, each in held.items()} for held in (self._windows, self._states))
        return Stream(*empty)

    def begin(self, slot: int, stream: Stream, length: int) -> None:
        """A text of so many tokens was fed to an empty slot; the stream is its only row's."""
        self.drop(slot)
        self._put([slot], stream, [0])
        self._held[slot] = length

    def drop(self, slot: int) -> None:
        """What the slot held is void."""
        self._held[slot] = None
        self._fed.pop(slot, None)

    def feed(self, batch: Batch, tokens: Tensor, lengths: Sequence[int], stream: Stream) -> None:
        """The rows were fed `tokens` `[R, n]`, of which `lengths[r]` are row r's own and not padding; `stream` is what that left."""
        for row, (slot, ids, length) in enumerate(zip(batch.slots, tokens.tolist(), lengths, strict=True)):
            self._fed[slot] = Fed(stream, row, ids[:length], whole=length == len(ids))

    def behind(self, batch: Batch, replay: Replay) -> Stream:
        """A copy of the states behind all tokens of each row but the last. Raises ValueError where a slot was fed something else than its text."""
        again: dict[int, list[tuple[int, Fed]]] = {}
        ahead: dict[int, list[tuple[int, Fed]]] = {}
        for slot, ids in zip(batch.slots, batch.ids, strict=True):
            kept, fed = self._kept(slot, ids), self._fed.pop(slot, None)
            if fed is not None and kept:
                if kept == len(fed.tokens) and fed.whole:
                    ahead.setdefault(id(fed.stream), []).append((slot, fed))
                else:
                    again.setdefault(kept, []).append((slot, fed))
                self._held[slot] = len(ids) - 1
        for rows in ahead.values():
            self._put([slot for slot, _ in rows], rows[0][1].stream, [fed.row for _, fed in rows])
        for kept, rows in again.items():
            self._replay(kept, rows, replay)
        return self._take(batch.slots)

    def _kept(self, slot: int, ids: list[int]) -> int:
        """How many of the tokens that were fed are still the slot's."""
        held, fed = self._held[slot], self._fed.get(slot)
        since = [] if held is None else ids[held:-1]
        if held is None or len(ids) <= held or (since and (fed is None or since != fed.tokens[: len(since)])):
            raise ValueError(f"slot {slot} holds the states of {held} tokens of another text than the {len(ids)} that it is used for")
        return len(since)

    def _replay(self, kept: int, rows: Sequence[tuple[int, Fed]], replay: Replay) -> None:
        slots = tuple(slot for slot, _ in rows)
        stream = self._take(slots)
        inputs = {layer: torch.stack([fed.stream.inputs[layer][fed.row, :kept] for _, fed in rows]) for layer in self._states}
        replay(stream, inputs, slots)
        self._put(slots, stream, range(len(rows)))

    def _take(self, slots: Sequence[int]) -> Stream:
        index = list(slots)
        return Stream({layer: each[index] for layer, each in self._windows.items()}, {layer: each[index] for layer, each in self._states.items()})

    def _put(self, slots: Sequence[int], stream: Stream, rows: Sequence[int]) -> None:
        into, out = list(slots), list(rows)
        for held, left in ((self._windows, stream.windows), (self._states, stream.states)):
            for layer, each in held.items():
                each[into] = left[layer][out].to(each.dtype)

    def bytes(self) -> int:
        return sum(each.numel() * each.element_size() for each in (*self._windows.values(), *self._states.values()))
