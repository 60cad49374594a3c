"""Between two tokenizers: the text so far in the drafter's ids, and its drafts in the target's."""

import json
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from transformers.convert_slow_tokenizer import bytes_to_unicode

from app.domain.tokenizer import vocabulary

# Committed tokens that are cut anew together with a draft, and how many of them must come out as they were.
LOOKBACK, ALIGNED = 16, 8
# What decoding puts where the bytes of a character are not whole.
BROKEN = "\ufffd"
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


class Translation:
    """`theirs` and `own` are fast tokenizers of transformers, the target's and the drafter's; `sizes` how many ids the two models know.

    Drafts are only proposals, so nothing here can change what is said: what is translated badly is rejected. The way is that of universal assisted
    generation (transformers' `AssistedCandidateGeneratorDifferentTokenizers`); the rule of alignment is ours.
    """

    def __init__(self, theirs: Any, own: Any, sizes: tuple[int, int]) -> None:
        self.theirs, self._own, self._sizes = theirs, own, sizes

    def own(self, ids: Sequence[int]) -> list[int]:
        """The text of the target's `ids` in the drafter's, with the token that its own texts begin with. Markup of the target's chat template is
        left out, and so is a last character that is not whole."""
        text = str(self.theirs.decode(ids, skip_special_tokens=True)).rstrip(BROKEN)
        return [int(i) for i in self._own(text)["input_ids"]]

    def whole(self, ids: Sequence[int]) -> bool:
        """Whether the text ends with a whole character."""
        return not str(self.theirs.decode(ids[-LOOKBACK:])).endswith(BROKEN)

    def back(self, ids: Sequence[int], before: Sequence[int], drafted: Sequence[int]) -> list[int]:
        """The drafter's tokens `drafted`, behind its own text `before`, as tokens that may stand behind the target's `ids`; [] where none can."""
        committed = list(ids[-LOOKBACK:])
        text, said = self._said(before, drafted), str(self.theirs.decode(committed))
        if not text:
            return []
        again = self._cut(said.rstrip(BROKEN) + text)
        end = aligned(committed, again)
        if end is not None:
            return again[end:]
        return [] if said.endswith(BROKEN) else self._cut(text)

    def _said(self, before: Sequence[int], drafted: Sequence[int]) -> str:
        """The text of a draft, to the last whole character and not past the end of a text. Decoded alone it could lose a space at its start."""
        ends = next((at for at, token in enumerate(drafted) if token in self._markup), len(drafted))
        tail = list(before[-LOOKBACK:])
        known = str(self._own.decode(tail, skip_special_tokens=True)).rstrip(BROKEN)
        return str(self._own.decode([*tail, *drafted[:ends]], skip_special_tokens=True)).removeprefix(known).rstrip(BROKEN)

    def _cut(self, text: str) -> list[int]:
        return [int(i) for i in self.theirs(text, add_special_tokens=False)["input_ids"]]

    @cached_property
    def _markup(self) -> frozenset[int]:
        return frozenset(self._own.all_special_ids)

    @cached_property
    def shared(self) -> tuple[list[int], list[int]]:
        """Tokens that are the same bytes in both vocabularies: the drafter's ids, and the target's in the same order. Markup is not among them.
        This intersection is what may be sampled (universal speculative decoding, arXiv 2502.05202)."""
        theirs, own = spelled(self.theirs, self._sizes[0]), spelled(self._own, self._sizes[1])
        both = sorted((own[text], theirs[text]) for text in own.keys() & theirs.keys())
        return [mine for mine, _ in both], [other for _, other in both]


def aligned(committed: Sequence[int], again: Sequence[int]) -> int | None:
    """Where in `again` the text of `committed` ends: behind the longest run of tokens that ends with its last one, of equally long ones the nearest.

    None where fewer than ALIGNED of them came out as they were, or not all of a shorter text: a draft that grows together with the last token leaves
    no such place.
    """

    def run(end: int) -> int:
        length = 0
        while length < min(end, len(committed)) and again[end - 1 - length] == committed[-1 - length]:
            length += 1
        return length

    longest, _, end = max(((run(end), -abs(end - len(committed)), end) for end in range(1, len(again) + 1)), default=(0, 0, 0))
    return end if longest >= min(ALIGNED, len(committed)) else None


def spelled(tokenizer: Any, size: int) -> dict[bytes, int]:
    """The ids below `size` by the bytes that they stand for, without added tokens. Byte-level vocabularies and those of SentencePiece spell
    differently: one has a letter for each byte, the other a mark for a space and names for single bytes."""
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    added = {token["id"] for token in content.get("added_tokens") or ()}
    table: dict[int, str] = bytes_to_unicode()  # type: ignore[no-untyped-call]
    letters = {letter: byte for byte, letter in table.items()} if '"ByteLevel"' in json.dumps(content.get("decoder")) else None
    found: dict[bytes, int] = {}
    for token, number in vocabulary(content).items():
        if number < size and number not in added and (text := _bytes(token, letters)):
            found.setdefault(text, number)
    return found


def _bytes(token: str, letters: dict[str, int] | None) -> bytes:
    if letters is not None:
        return bytes(letters[letter] for letter in token) if all(letter in letters for letter in token) else b""
    named = _BYTE.fullmatch(token)
    return bytes([int(named[1], 16)]) if named else token.replace("▁", " ").encode()
