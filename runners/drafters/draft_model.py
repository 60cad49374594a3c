"""Drafts with a second model, token by token, over a cache of its own."""

from collections.abc import Sequence
from typing import Annotated

import torch
from pydantic import AfterValidator, Field
from torch import Tensor

from app.domain.spec import ModelSource
from runners.drafters.base import Drafter, More, Params, UnfitDrafter
from runners.engine.chain import grow
from runners.engine.companion import Companion
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.target import Target
from runners.engine.tree import Look
from runners.models.named import source_of

# Tokens that the drafter's cache may lack before a row is fed alone: padding to the longest would write past the other rows' ends.
FEW = 8
PIECE = 32


def _named(name: str) -> str:
    source_of(name)
    return name


class DraftModelParams(Params):
    model: Annotated[
        str,
        AfterValidator(_named),
        Field(min_length=1, max_length=512, title="Drafter's model", description="as it stands in the list of models: package:NAME, or path:FOLDER"),
    ]
    cross_tokenizer: Annotated[
        bool,
        Field(title="Another tokenizer is fine", description="translate between the tokenizers if they differ; otherwise such a pair is refused"),
    ] = False


class DraftModel(Drafter):
    """Speculative decoding with an external model (Leviathan et al. 2023, arXiv 2211.17192; Chen et al. 2023, arXiv 2302.01318).

    What the drafter's cache holds is compared with the text before each draft, and kept as far as they agree. That takes back rejected drafts, and it
    finds the one token that is missing behind a draft that was kept whole: the last one, which was proposed and never fed.

    Of another tokenizer greedy drafts are translated by re-encoding (`Translation.back`); sampled ones are drawn from the tokens that both
    vocabularies have, by the law renormalised to them, so that the verifier knows exactly what was drawn from.
    """

    name = "draft-model"
    summary = "drafts with a second, smaller model that has a cache of its own"
    Params = DraftModelParams
    always_drafts = True
    knows_confidence = True
    branches = True
    params: DraftModelParams

    def __init__(self, params: DraftModelParams, target: Target, chance: Chance | None = None, companion: Companion | None = None) -> None:
        super().__init__(params, target, chance)
        if companion is None:
            raise UnfitDrafter(f"the model {params.model} was not loaded beside the target")
        self.companion, self._model, self._translation = companion, companion.model, companion.translation
        self._known: dict[int, list[int]] = {}
        self._shared: tuple[Tensor, Tensor] | None = None
        if self._translation is not None and not self.chance.law.greedy:
            own, theirs = (torch.tensor(ids, dtype=torch.long, device=target.device) for ids in self._translation.shared)
            if not len(own):
                raise UnfitDrafter(f"no token of {params.model} is a token of the target, so that nothing can be drawn")
            self._shared = own, theirs

    @classmethod
    def wants(cls, params: DraftModelParams) -> ModelSource:
        return source_of(params.model)

    @classmethod
    def crosses(cls, params: DraftModelParams) -> bool:
        return params.cross_tokenizer

    def forced(self) -> str | None:
        if self.companion is not None and self.companion.twin:
            return "the drafter's model is the target itself, so every draft is the target's own token"
        return None

    def begin(self, slot: int, ids: Sequence[int]) -> None:
        own = self._own(ids)
        self._known[slot] = own if 0 < len(own) < self._model.context else []
        # Layers of another model are no layers of the target, so they are not counted as if they were.
        self.target.passes[slot].foreign = True
        if self._known[slot]:
            self._model.prefill(slot, own)

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        own = [self._own(ids) if limit > 0 else [] for ids, limit in zip(batch.ids, limits, strict=True)]
        limits = [limit if self._fits(ids, mine, limit) else 0 for ids, mine, limit in zip(batch.ids, own, limits, strict=True)]
        active = [r for r, limit in enumerate(limits) if limit > 0]
        if not active:
            return Draft.empty(len(batch), self.target.device)
        # Of a row that drafts nothing no text is read.
        texts = Batch(batch.slots, tuple(mine or ids for mine, ids in zip(own, batch.ids, strict=True)))
        chain = grow(texts, limits, self._behind, self.chance, self.target.device, more)
        tokens, laws, lengths = chain.tokens, chain.laws, chain.lengths
        fed = tokens if self._shared is None else self._shared[0][tokens]
        for r in active:
            self._known[batch.slots[r]] = [*own[r], *fed[r, : lengths[r] - 1].tolist()]
        if self._shared is not None:
            tokens = self._shared[1][tokens]
        elif self._translation is not None:
            drafted = tokens.tolist()
            translated = (self._translated(batch.ids[r], own[r], drafted[r][: lengths[r]], limits[r]) for r in range(len(batch)))
            return Draft.from_lists(list(translated), self.target.device)
        return Draft.chain(tokens, lengths, probabilities=None if laws is None else self._spread(laws))

    def behind(self, batch: Batch, look: Look) -> tuple[Tensor, None]:
        """Of one tokenizer alone: a path of translated tokens has no law. What a tree leaves in the drafter's cache counts as never fed."""
        assert self._translation is None
        if int(look.depths.max()) > 0:
            logits, _ = self._model.early_tree(batch, look, self._model.layers)
        else:
            logits = self._catch_up(batch)[:, None]
            self._known |= {slot: list(ids) for slot, ids in zip(batch.slots, batch.ids, strict=True)}
        missing = self.target.vocabulary - logits.shape[-1]
        return (logits[..., : self.target.vocabulary] if missing <= 0 else torch.nn.functional.pad(logits, (0, missing), value=-torch.inf)), None

    def _own(self, ids: Sequence[int]) -> list[int]:
        return list(ids) if self._translation is None else self._translation.own(ids)

    def _fits(self, ids: Sequence[int], own: list[int], limit: int) -> bool:
        """Whether a draft of this length has room in the drafter's context, and something to stand behind."""
        if self._shared is not None and self._translation is not None and not self._translation.whole(ids):
            # A token that both vocabularies have begins with a character, not inside one.
            return False
        return bool(own) and len(own) + limit + FEW < self._model.context

    def _translated(self, ids: list[int], own: list[int], drafted: list[int], limit: int) -> list[int]:
        assert self._translation is not None
        return self._translation.back(ids, own, drafted)[:limit] if drafted else []

    def _behind(self, texts: Batch, last: Tensor, depth: int) -> tuple[Tensor, None]:
        """The drafter's logits `[A, V]` behind each row's text and `depth` drafts, of which `last` `[A]` is the last: of the tokens that may stand in
        a draft of the target's. With a shared part of two vocabularies tokens are places in it."""
        if depth == 0:
            logits = self._catch_up(texts)
        else:
            fed = last if self._shared is None else self._shared[0][last]
            logits, _ = self._model.early(texts, fed, depth, self._model.layers)
        if self._shared is not None:
            return logits[:, self._shared[0]], None
        return (logits if self._translation is not None else logits[:, : self.target.vocabulary]), None

    def _catch_up(self, texts: Batch) -> Tensor:
        """Feeds what the drafter's cache lacks of each text; the logits `[A, V]` behind it. The last token is always fed, for its logits."""
        held = [min(_agreeing(self._known[slot], ids), len(ids) - 1) for slot, ids in zip(texts.slots, texts.ids, strict=True)]
        for row, (slot, ids) in enumerate(zip(texts.slots, texts.ids, strict=True)):
            while len(ids) - held[row] > FEW:
                piece = ids[: min(len(ids) - 1, held[row] + PIECE)]
                self._model.verify(Batch((slot,), (piece[: held[row] + 1],)), Draft.from_lists([piece[held[row] + 1 :]], self.target.device))
                held[row] = len(piece)
        missing = [ids[at + 1 :] for ids, at in zip(texts.ids, held, strict=True)]
        begun = Batch(texts.slots, tuple(ids[: at + 1] for ids, at in zip(texts.ids, held, strict=True)))
        logits = self._model.verify(begun, Draft.from_lists(missing, self.target.device))
        return logits[torch.arange(len(texts), device=logits.device), [len(each) for each in missing]]

    def _spread(self, laws: Tensor) -> Tensor:
        """Laws `[B, n, V]` over the target's vocabulary, from those over what is shared, or over the drafter's own, which may end earlier."""
        whole = laws.new_zeros((*laws.shape[:2], self.target.vocabulary))
        if self._shared is None:
            whole[..., : laws.shape[-1]] = laws
        else:
            whole[..., self._shared[1]] = laws
        return whole


def _agreeing(known: list[int], ids: list[int]) -> int:
    """How many tokens two texts have in common from the start."""
    if known == ids[: len(known)]:
        return len(known)
    return next((at for at, (a, b) in enumerate(zip(known, ids, strict=False)) if a != b), min(len(known), len(ids)))
