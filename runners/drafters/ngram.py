"""Drafts by looking up the last n-gram earlier in the same text (prompt lookup)."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from runners.drafters.base import Drafter, More, Params
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.target import Target


class NgramParams(Params):
    shortest: Annotated[int, Field(ge=1, le=16, title="Shortest n-gram", description="tokens that must match at least")] = 1
    longest: Annotated[int, Field(ge=1, le=16, title="Longest n-gram", description="tried first")] = 3


class Ngram(Drafter):
    """Longest n-gram first, its latest earlier occurrence, and what followed it there.

    Prompt lookup decoding (Saxena 2023; transformers' `prompt_lookup_num_tokens` takes the left-most occurrence instead). An index per slot
    grows with the committed text, so a proposal costs the same however long the text is.
    """

    name = "ngram"
    summary = "copies what followed the same n-gram earlier in the text; no weights"
    Params = NgramParams
    params: NgramParams

    def __init__(self, params: NgramParams, target: Target, chance: Chance | None = None) -> None:
        super().__init__(params, target, chance)
        self._after: dict[int, dict[tuple[int, ...], int]] = {}
        self._indexed: dict[int, int] = {}

    def begin(self, slot: int, ids: Sequence[int]) -> None:
        del ids
        self._after[slot] = {}
        self._indexed[slot] = 1

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        del more
        rows = zip(batch.slots, batch.ids, limits, strict=True)
        return Draft.from_lists([self._continue(slot, ids, limit) if limit > 0 else [] for slot, ids, limit in rows], self.target.device)

    def _continue(self, slot: int, ids: list[int], limit: int) -> list[int]:
        after, sizes = self._after[slot], range(self.params.shortest, self.params.longest + 1)
        for end in range(self._indexed[slot], len(ids)):
            for size in sizes:
                if size <= end:
                    after[tuple(ids[end - size : end])] = end
        self._indexed[slot] = len(ids)
        for size in reversed(sizes):
            start = after.get(tuple(ids[-size:])) if size < len(ids) else None
            if start is not None:
                return ids[start : start + limit]
        return []
