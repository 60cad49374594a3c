"""A hybrid target from transformers: a slot cache for its attention, and beside it the recurrent states of every slot."""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from runners.engine.attention import fold, with_folded
from runners.engine.draft import Batch, Draft, Watch
from runners.engine.families import check_family
from runners.engine.hybrids import WIRINGS, Seen
from runners.engine.recurrence import Snapshots, Stream
from runners.engine.slots import SlotCache
from runners.engine.target import Target
from runners.engine.transformers_target import MARGIN

NOTHING: frozenset[int] = frozenset()


class HybridTarget(Target):
    """`model` is a causal language model of transformers of a recurrent family, in evaluation mode.

    A draft runs on a copy of its slots' states. What a rejected one did to them in the verification is undone when the slot is next used: from the
    snapshot before it the mixers alone run anew over the tokens that were kept, on the very inputs that the verification gave them. A row with fewer
    drafts than the longest one of its batch is taken back in the same way, since padding goes through the mixers like any token. The time of it falls
    into the next proposal where that reads the states, else into the next verification. `cache` is `margin` entries longer than `context` for those
    columns. Raises UnsupportedModel for a family that it cannot run.
    """

    trees: ClassVar[bool] = False
    slices: ClassVar[bool] = False

    def __init__(self, model: Any, *, slots: int, context: int, eos: frozenset[int], margin: int = MARGIN) -> None:
        super().__init__(slots)
        config = model.config
        check_family(config.to_dict())
        self.model = model
        ours = with_folded(model)
        self.wiring = WIRINGS[config.model_type](ours)
        self.stack, self.attentions = ours.model, self.wiring.attends
        self.layers, self.vocabulary = int(config.num_hidden_layers), int(config.vocab_size)
        self.eos, self.context = eos, context
        first = next(model.parameters())
        self.device, self.dtype = first.device, first.dtype
        heads = int(config.num_key_value_heads)
        self.shared_by = int(config.num_attention_heads) // heads
        dim = int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads)
        shapes = [(heads if number in self.attentions else 0, dim) for number in range(self.layers)]
        self.cache = SlotCache(shapes, slots, context + margin, self.dtype, self.device)
        self.snapshots = Snapshots(self.wiring.shapes(), slots, self.device)
        self.weight_bytes = sum(p.numel() * p.element_size() for p in model.parameters())
        self.cache_bytes = self.cache.bytes() + self.snapshots.bytes()
        # The states that the draft under way has come to, and whose they are.
        self._drafting: tuple[tuple[int, ...], Stream] | None = None

    @torch.inference_mode()
    def _prefill(self, slot: int, ids: Sequence[int]) -> Tensor:
        hidden, stream = self._read(slot, ids, self.layers, NOTHING)
        self.snapshots.begin(slot, stream, len(ids))
        self.passes[slot].prefill += self.layers * len(ids)
        self.forwards += 1
        return self.wiring.head(hidden[:, -1])[0]

    @torch.inference_mode()
    def verify(self, batch: Batch, draft: Draft) -> Tensor:
        if draft.tree is not None or draft.resume is not None or draft.watch is not None:
            raise ValueError("a recurrent state is fed chains from the first layer on, which nobody watches")
        stream = self.snapshots.behind(batch, self._replay)
        pending = torch.tensor([ids[-1] for ids in batch.ids], dtype=torch.long, device=self.device)
        tokens = torch.cat([pending[:, None], draft.tokens], dim=1)
        positions = self._starts(batch) + torch.arange(tokens.shape[1], device=self.device)
        stream.keeps = tokens.shape[1] > 1
        hidden = self._through(self.wiring.embed(tokens), batch.slots, positions, stream, self.layers, NOTHING)
        self.snapshots.feed(batch, tokens, [length + 1 for length in draft.lengths], stream)
        for slot, length in zip(batch.slots, draft.lengths, strict=True):
            self.passes[slot].verify += self.layers * (length + 1)
        self.forwards += 1
        return self.wiring.head(hidden)

    def early(self, batch: Batch, tokens: Tensor, depth: int, exit_layer: int, watch: Watch | None = None) -> tuple[Tensor, None]:
        del watch
        return self._draft(batch, tokens, depth, exit_layer, NOTHING), None

    def unattended(self, batch: Batch, tokens: Tensor, depth: int, left_out: frozenset[int]) -> Tensor:
        return self._draft(batch, tokens, depth, self.layers, left_out)

    @torch.inference_mode()
    def scores(self, ids: Sequence[int], layers: int, left_out: frozenset[int] = NOTHING) -> Tensor:
        self._check_room(ids)
        self.snapshots.drop(0)
        return self.wiring.head(self._read(0, ids, layers, left_out)[0])[0]

    @torch.inference_mode()
    def _draft(self, batch: Batch, tokens: Tensor, depth: int, last: int, left_out: frozenset[int]) -> Tensor:
        stream = self._at(batch, depth)
        positions = self._starts(batch) + depth
        hidden = self._through(self.wiring.embed(tokens[:, None]), batch.slots, positions, stream, last, left_out)
        for slot in batch.slots:
            self.passes[slot].parts += self.wiring.passes(0, last, left_out)
        return self.wiring.head(hidden[:, 0])

    def _at(self, batch: Batch, depth: int) -> Stream:
        """The draft's own states behind the tokens that it has fed so far: a copy of the slots' where it begins."""
        if depth == 0:
            self._drafting = batch.slots, self.snapshots.behind(batch, self._replay)
        assert self._drafting is not None, "a draft begins at depth 0"
        slots, stream = self._drafting
        if slots != batch.slots:
            stream = stream.rows([slots.index(slot) for slot in batch.slots])
            self._drafting = batch.slots, stream
        return stream

    def _replay(self, stream: Stream, inputs: dict[int, Tensor], slots: tuple[int, ...]) -> None:
        for number, hidden in inputs.items():
            self.wiring.mix(number, hidden, stream)
        kept = next(iter(inputs.values())).shape[1]
        for slot in slots:
            self.passes[slot].replayed += kept * self.wiring.replayed()

    def _read(self, slot: int, ids: Sequence[int], last: int, left_out: frozenset[int]) -> tuple[Tensor, Stream]:
        """States `[1, n, H]` of a text from its start on, and what it leaves."""
        tokens, stream = torch.tensor([list(ids)], dtype=torch.long, device=self.device), self.snapshots.fresh()
        positions = torch.arange(len(ids), device=self.device)[None]
        return self._through(self.wiring.embed(tokens), (slot,), positions, stream, last, left_out), stream

    def _starts(self, batch: Batch) -> Tensor:
        """Positions `[R, 1]` of the last committed tokens."""
        return torch.tensor([[len(ids) - 1] for ids in batch.ids], dtype=torch.long, device=self.device)

    def _through(self, hidden: Tensor, slots: tuple[int, ...], positions: Tensor, stream: Stream, last: int, left_out: frozenset[int]) -> Tensor:
        """The first `last` layers over `hidden` `[R, n, H]` at `positions` `[R, n]`, without the attention of those `left_out`."""
        seen: Seen = None if left_out.issuperset(self.attentions) else self._seen(hidden, slots, positions)
        for number in range(last):
            hidden = self.wiring.run(number, hidden, stream, None if number in left_out else seen)
        return hidden

    def _seen(self, hidden: Tensor, slots: tuple[int, ...], positions: Tensor) -> Seen:
        width = int(positions.max()) + 1
        return {
            "attention_mask": torch.arange(width, device=self.device) <= fold(positions, self.shared_by)[:, None, :, None],
            "position_embeddings": self.stack.rotary_emb(hidden, positions),
            "position_ids": positions,
            "cache": self.cache.aim(slots, positions, width),
        }
