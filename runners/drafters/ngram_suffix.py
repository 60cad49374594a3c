"""Drafts what most often followed the longest earlier match, in this text or also in earlier answers."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from runners.drafters.base import Drafter, Memory, More, Params
from runners.engine.dice import Chance
from runners.engine.draft import Batch, Draft
from runners.engine.suffixes import Continuation, Suffixes
from runners.engine.target import Target


class NgramSuffixParams(Params):
    memory: Annotated[
        Memory,
        Field(
            title="Memory",
            description="request: this prompt and its answer alone; process: also the earlier answers of a trial, whose order then matters",
        ),
    ] = "request"
    depth: Annotated[int, Field(ge=1, le=256, title="Longest match", description="tokens looked back on")] = 24
    factor: Annotated[float, Field(ge=0.1, le=16, title="Draft per matched token", description="a longer match is trusted for a longer draft")] = 1.0
    least: Annotated[float, Field(ge=0, le=1, title="Stop below", description="the share of earlier places that went the whole way of the draft")] = (
        0.1
    )


class NgramSuffix(Drafter):
    """Suffix decoding (Oliaro et al., arXiv 2411.04975): the longest end of the text that was said before, and from there the most frequent
    continuation, as long as `factor` times the match, while at least `least` of the places agree. Depth, factor and share have its defaults.

    With `memory` process a second collection holds the answers of requests that have ended; of both continuations the one that promises more kept
    tokens is drafted, of equal ones the text's own. An answer is remembered when its slot is taken again. It is forgotten at the start of a trial:
    otherwise every repeat would draft from what the first one said. The collection of places in place of a tree is ours.
    """

    name = "ngram-suffix"
    summary = "copies what most often followed the longest earlier match; no weights"
    Params = NgramSuffixParams
    knows_confidence = True
    params: NgramSuffixParams

    def __init__(self, params: NgramSuffixParams, target: Target, chance: Chance | None = None) -> None:
        super().__init__(params, target, chance)
        self._own: dict[int, Suffixes] = {}
        self._indexed: dict[int, int] = {}
        self._past = Suffixes(params.depth)
        # The lists of a batch are the sequences' own and go on to grow, to the last token of an answer.
        self._texts: dict[int, list[int]] = {}
        self._prompts: dict[int, int] = {}

    @classmethod
    def remembers(cls, params: Any) -> Memory:
        remembered: Memory = params.memory
        return remembered

    def reset(self) -> None:
        self._past = Suffixes(self.params.depth)
        self._texts.clear()

    def begin(self, slot: int, ids: Sequence[int]) -> None:
        if self.params.memory == "process" and slot in self._texts:
            self._past.extend(self._texts.pop(slot)[self._prompts[slot] :])
            self._past.close()
        self._own[slot], self._indexed[slot], self._prompts[slot] = Suffixes(self.params.depth), 0, len(ids)

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        found = []
        for slot, ids, limit in zip(batch.slots, batch.ids, limits, strict=True):
            self._texts[slot] = ids
            tokens = self._continue(slot, ids, limit) if limit > 0 else Continuation()
            found.append(_asked(slot, tokens, more))
        return Draft.from_lists(found, self.target.device)

    def _continue(self, slot: int, ids: list[int], limit: int) -> Continuation:
        own = self._own[slot]
        own.extend(ids[self._indexed[slot] :])
        self._indexed[slot] = len(ids)
        tail = ids[-self.params.depth :]
        both = [each.follow(tail, limit, factor=self.params.factor, least=self.params.least) for each in (own, self._past)]
        return max(both, key=lambda each: each.score)


def _asked(slot: int, found: Continuation, more: More | None) -> list[int]:
    """The tokens of a draft, to the first behind which no more are wanted."""
    tokens: list[int] = []
    for token, share in zip(found.tokens, found.shares, strict=True):
        tokens.append(token)
        if more is not None and not more(slot, share):
            break
    return tokens
