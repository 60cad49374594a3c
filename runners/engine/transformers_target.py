"""A target from transformers, run layer by layer over a slot cache."""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from runners.engine.attention import fold, with_folded
from runners.engine.draft import Batch, Draft, Resume, Watch
from runners.engine.experts import open_routers
from runners.engine.families import FAMILIES, FULL, SLIDING, UnsupportedModel, check_family
from runners.engine.inside import Inside, watched
from runners.engine.routed import Routed
from runners.engine.sliced import Sliced
from runners.engine.slots import Aimed, SlotCache
from runners.engine.tree import Look, Spot

# Entries behind the context: for the padded columns of a ragged draft, and for the branches of a tree.
MARGIN = 64


class TransformersTarget(Inside, Sliced, Routed):
    """`model` is a causal language model of transformers in evaluation mode. Padded columns of a ragged draft write past their row's length, and
    branches of a tree beside each other, so the cache is `margin` entries longer than `context`. Raises UnsupportedModel for a family that it cannot
    run."""

    resumes: ClassVar[bool] = True

    def __init__(self, model: Any, *, slots: int, context: int, eos: frozenset[int], margin: int = MARGIN) -> None:
        super().__init__(slots)
        config = model.config
        check_family(config.to_dict())
        family = FAMILIES[config.model_type]
        if family.state is not None:
            raise UnsupportedModel(f"{config.model_type} keeps a recurrent state, which a slot cache alone does not hold")
        self.model = model
        self.ours = with_folded(model)
        self.stack = self.ours.model
        self.experts = open_routers(self.stack.layers, self.switch) if family.sparse else None
        self.layers = int(config.num_hidden_layers)
        self.vocabulary = int(config.vocab_size)
        self.eos = eos
        self.context = context
        self.device = next(model.parameters()).device
        self.dtype: torch.dtype = next(model.parameters()).dtype
        self.kinds = family.kinds(config)
        self.window = int(config.sliding_window) if SLIDING in self.kinds else None
        self.angles_by_kind = family.angles_by_kind
        self.softcap: float | None = getattr(config, "final_logit_softcapping", None)
        heads = int(config.num_key_value_heads)
        self.shared_by = int(config.num_attention_heads) // heads
        dim = int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads)
        self.cache = SlotCache([(heads, dim)] * self.layers, slots, context + margin, self.dtype, self.device)
        self.weight_bytes = sum(p.numel() * p.element_size() for p in model.parameters())
        self.cache_bytes = self.cache.bytes()

    @torch.inference_mode()
    def _prefill(self, slot: int, ids: Sequence[int]) -> Tensor:
        tokens = torch.tensor([list(ids)], dtype=torch.long, device=self.device)
        positions = torch.arange(len(ids), device=self.device)[None]
        with self._heeding((slot,), [(len(ids) - 1, len(ids) - 1)], [0]), self._prefilled(slot):
            hidden = self._layers(self.stack.embed_tokens(tokens), (slot,), positions, 0, self.layers)
        self.passes[slot].prefill += self.layers * len(ids)
        self.forwards += 1
        return self._head(hidden[:, -1])[0]

    @torch.inference_mode()
    def verify(self, batch: Batch, draft: Draft) -> Tensor:
        if draft.tree is not None:
            return self._verify_tree(batch, draft)
        pending = torch.tensor([ids[-1] for ids in batch.ids], dtype=torch.long, device=self.device)
        tokens = torch.cat([pending[:, None], draft.tokens], dim=1)
        positions = self._starts(batch) + torch.arange(tokens.shape[1], device=self.device)
        first = 0
        if draft.resume is None:
            hidden = self.stack.embed_tokens(tokens)
        else:
            first = draft.resume.exit_layer
            hidden = self._finish_exit(batch, draft, tokens, positions)
        heeding = self._heeding(batch.slots, [(0, length) for length in draft.lengths], [len(ids) - 1 for ids in batch.ids])
        with heeding, self._tallied(batch.slots, draft.lengths):
            hidden = self._layers(hidden, batch.slots, positions, first, self.layers, draft.watch)
        for slot, length in zip(batch.slots, draft.lengths, strict=True):
            # The exit layers ran once in a resumed verify, for the deepest draft; the others were the draft's own work.
            self.passes[slot].verify += (self.layers - first) * (length + 1) + first
        self.forwards += 1
        return self._head(hidden)

    def _finish_exit(self, batch: Batch, draft: Draft, tokens: Tensor, positions: Tensor) -> Tensor:
        """Exit states `[B, n + 1, H]`: the draft's own, and behind them the deepest draft of each row, which no draft step has run."""
        assert draft.resume is not None
        rows = torch.arange(len(batch), device=self.device)
        deepest = torch.tensor(draft.lengths, dtype=torch.long, device=self.device)
        last = self.stack.embed_tokens(tokens[rows, deepest][:, None])
        last = self._layers(last, batch.slots, positions[rows, deepest][:, None], 0, draft.resume.exit_layer, draft.watch)
        hidden = torch.cat([draft.resume.hidden, torch.zeros_like(last)], dim=1)
        hidden[rows, deepest] = last[:, 0]
        return hidden

    def _verify_tree(self, batch: Batch, draft: Draft) -> Tensor:
        assert draft.tree is not None
        tokens, resume = draft.tokens.tolist(), draft.resume
        spots = [draft.tree.spots(row, ids[-1], tokens[row]) for row, ids in enumerate(batch.ids)]
        look = Look.at(spots, self.device)
        first = 0 if resume is None else resume.exit_layer
        hidden = self.stack.embed_tokens(look.tokens) if resume is None else self._finish_tree(batch, resume, spots)
        hidden = self._branches(hidden, batch, look, first, self.layers)
        late = [()] * len(batch) if resume is None else resume.missing
        for slot, length, missing in zip(batch.slots, draft.lengths, late, strict=True):
            self.passes[slot].verify += (self.layers - first) * (length + 1) + first * len(missing)
        self.forwards += 1
        return self._head(hidden)

    def _finish_tree(self, batch: Batch, resume: Resume, spots: Sequence[Sequence[Spot]]) -> Tensor:
        """Exit states `[B, n + 1, H]` of whole trees: the draft's own and those `missing`, which no draft step has run."""
        hidden, rows = resume.hidden.clone(), [row for row, missing in enumerate(resume.missing) if missing]
        if rows:
            rest = Look.at([[spots[row][node] for node in resume.missing[row]] for row in rows], self.device)
            found = self._branches(self.stack.embed_tokens(rest.tokens), batch.rows(rows), rest, 0, resume.exit_layer)
            for at, row in enumerate(rows):
                hidden[row, list(resume.missing[row])] = found[at, : rest.counts[at]]
        for row, own in enumerate(spots):
            # Behind a row's own tree its first token stands again.
            hidden[row, len(own) :] = hidden[row, 0]
        return hidden

    @torch.inference_mode()
    def settle(self, batch: Batch, draft: Draft, paths: list[list[int]]) -> None:
        assert draft.tree is not None
        moves = [
            (slot, len(ids) - 1 + columns[node], len(ids) + depth)
            for slot, ids, columns, path in zip(batch.slots, batch.ids, draft.tree.columns, paths, strict=True)
            for depth, node in enumerate(path)
            if columns[node] != depth + 1
        ]
        if moves:
            self.cache.move(*_index(moves, self.device))

    @torch.inference_mode()
    def early_tree(self, batch: Batch, look: Look, exit_layer: int) -> tuple[Tensor, Tensor]:
        hidden = self._branches(self.stack.embed_tokens(look.tokens), batch, look, 0, exit_layer)
        for slot, count in zip(batch.slots, look.counts, strict=True):
            self.passes[slot].draft += exit_layer * count
        return self._head(hidden), hidden

    @torch.inference_mode()
    def early(self, batch: Batch, tokens: Tensor, depth: int, exit_layer: int, watch: Watch | None = None) -> tuple[Tensor, Tensor]:
        positions = self._starts(batch) + depth
        hidden = self._layers(self.stack.embed_tokens(tokens[:, None]), batch.slots, positions, 0, exit_layer, watch)
        for slot in batch.slots:
            self.passes[slot].draft += exit_layer
        return self._head(hidden[:, 0]), hidden[:, 0]

    def _starts(self, batch: Batch) -> Tensor:
        return torch.tensor([[len(ids) - 1] for ids in batch.ids], dtype=torch.long, device=self.device)

    def _head(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self.ours.lm_head(self.stack.norm(hidden))
        return logits if self.softcap is None else torch.tanh(logits / self.softcap) * self.softcap

    def _layers(self, hidden: Tensor, slots: tuple[int, ...], positions: Tensor, first: int, last: int, watch: Watch | None = None) -> Tensor:
        """Layers `first` … `last` − 1 over `hidden` `[R, n, H]` at `positions` `[R, n]`, writing their keys and values."""
        width = int(positions.max()) + 1
        return self._through(hidden, self.cache.aim(slots, positions, width), positions, width, first, last, watch)

    def _through(self, hidden: Tensor, cache: Aimed, positions: Tensor, width: int, first: int, last: int, watch: Watch | None = None) -> Tensor:
        """The same over a cache that is aimed already, for rows that may see its first `width` entries."""
        return self._run(hidden, cache, positions, self._masks(fold(positions, self.shared_by), width), first, last, watch)

    def _branches(self, hidden: Tensor, batch: Batch, look: Look, first: int, last: int) -> Tensor:
        """Layers `first` … `last` − 1 over tokens `[R, n]` of trees, whose keys and values go to their columns."""
        starts = self._starts(batch)
        places = starts + look.columns
        width = max(len(ids) for ids in batch.ids) + look.seen.shape[2] - 1
        if width > self.cache.context:
            raise ValueError(f"a tree of {look.seen.shape[2] - 1} columns reaches past the {self.cache.context} entries of the cache")
        windows = {FULL: None} if self.window is None else {FULL: None, SLIDING: self.window}
        masks = {kind: look.visible(starts[:, 0], width, window).repeat(1, self.shared_by, 1)[:, None] for kind, window in windows.items()}
        return self._run(hidden, self.cache.aim(batch.slots, places, width), starts + look.depths, masks, first, last)

    def _run(
        self, hidden: Tensor, cache: Aimed, positions: Tensor, masks: dict[str, Tensor], first: int, last: int, watch: Watch | None = None
    ) -> Tensor:
        angles = self._angles(hidden, positions)
        for number in range(first, last):
            kind, layer = self.kinds[number], self.stack.layers[number]
            seen: dict[str, Any] = {"attention_mask": masks[kind], "position_embeddings": angles[kind], "position_ids": positions, "cache": cache}
            seen |= self._asking
            hidden = layer(hidden, **seen) if watch is None else watched(watch, number, self.layers, cache.rows, layer, hidden, seen)
        return hidden

    def _masks(self, positions: Tensor, width: int) -> dict[str, Tensor]:
        """`[R, 1, n, width]` for each kind of layer: what the queries at `positions` `[R, n]` may see."""
        index = torch.arange(width, device=self.device)
        masks = {FULL: index <= positions[:, None, :, None]}
        if self.window is not None:
            masks[SLIDING] = masks[FULL] & (index > positions[:, None, :, None] - self.window)
        return masks

    def _angles(self, hidden: Tensor, positions: Tensor) -> dict[str, Any]:
        """Rotary angles of each kind of layer."""
        kinds = set(self.kinds)
        if self.angles_by_kind:
            return {kind: self.stack.rotary_emb(hidden, positions, kind) for kind in kinds}
        return dict.fromkeys(kinds, self.stack.rotary_emb(hidden, positions))


def _index(tuples: Sequence[tuple[int, ...]], device: torch.device) -> tuple[Tensor, ...]:
    """Columns of a list of tuples, to index tensors with."""
    return tuple(torch.tensor(tuples, dtype=torch.long, device=device).T)
