"""Which tokenizer cut the text, by content and not by name."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field

from app.domain.bounds import Digest
from app.domain.value import Value

# Converters fill unused rows of an embedding matrix with entries that carry their own row number.
_PADDING = re.compile(r"\[PAD(\d+)\]")
# Fields that move offsets or decoding, never ids.
_SILENT = {"trim_offsets"}
SHORTEST_PREFIX = 12
_HEX = re.compile(rf"[0-9a-f]{{{SHORTEST_PREFIX},64}}")


class TokenizerIdentity(Value):
    """`fingerprint` is SHA-256 over the canonical tokenizer (definitions § 5); `vocabulary` counts its entries without padding rows."""

    name: Annotated[str, Field(min_length=1, max_length=256)]
    fingerprint: Digest
    vocabulary: Annotated[int, Field(ge=1)]

    @property
    def short(self) -> str:
        return f"{self.name}·{self.fingerprint[:6]}"


def fingerprint_said(belief: str) -> str | None:
    """The beginning of a fingerprint (at least 12 hex digits) that somebody calls a tokenizer by; None for a name."""
    said = belief.strip().lower()
    return said if _HEX.fullmatch(said) else None


def fingerprint(tokenizer_json: Mapping[str, Any]) -> str:
    """SHA-256 over what decides the ids of a text: vocabulary, merges, added tokens, normaliser and pre-tokeniser.

    Takes the parsed tokenizer.json of a fast tokenizer. Its name, key order, decoder, post-processor, truncation, padding and padding rows do not
    count. Raises ValueError when it is no tokenizer.json or holds a merge that is not a pair.
    """
    canonical = {
        "vocabulary": sorted(vocabulary(tokenizer_json).items(), key=lambda entry: (entry[1], entry[0])),
        "model": _model(_model_of(tokenizer_json)),
        "added": sorted((_added(token) for token in _real(tokenizer_json.get("added_tokens") or ())), key=lambda token: int(token["id"])),
        "normalizer": _step(tokenizer_json.get("normalizer")),
        "pre_tokenizer": _step(tokenizer_json.get("pre_tokenizer")),
    }
    return hashlib.sha256(
        json.dumps(canonical, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    ).hexdigest()


def vocabulary(tokenizer_json: Mapping[str, Any]) -> dict[str, int]:
    """{token: id} with added tokens, without padding rows."""
    listed = _model_of(tokenizer_json)["vocab"]
    entries = dict(listed) if isinstance(listed, Mapping) else {piece: number for number, (piece, _) in enumerate(listed)}
    entries |= {token["content"]: token["id"] for token in tokenizer_json.get("added_tokens") or ()}
    return {token: number for token, number in entries.items() if not _is_padding(token, number)}


def _model_of(tokenizer_json: Mapping[str, Any]) -> Mapping[str, Any]:
    model = tokenizer_json.get("model")
    if not isinstance(model, Mapping) or not model.get("vocab"):
        raise ValueError("this is no tokenizer.json: it has no model with a vocabulary")
    return model


def _model(model: Mapping[str, Any]) -> dict[str, Any]:
    """The model without its vocabulary, which is hashed apart; unset options and their empty defaults are one thing."""
    kept = {key: value for key, value in model.items() if key not in {"vocab", "merges"} and not _is_unset(value)}
    if "merges" in model:
        kept["merges"] = [_pair(merge) for merge in model["merges"]]
    if not isinstance(model["vocab"], Mapping):
        kept["scores"] = [score for piece, score in model["vocab"] if not _PADDING.fullmatch(piece)]
    return kept


def _is_unset(value: object) -> bool:
    """0 is a value: it is a real id of an unknown token."""
    return value is None or value is False or value == ""


def _pair(merge: str | Iterable[str]) -> list[str]:
    """Both spellings of a merge, "a b" and ["a", "b"], as the second."""
    pair = merge.split(" ") if isinstance(merge, str) else list(merge)
    if len(pair) != 2:
        raise ValueError(f"a merge joins two tokens, this one does not: {merge!r}")
    return pair


def _is_padding(token: str, number: int) -> bool:
    row = _PADDING.fullmatch(token)
    return row is not None and int(row[1]) == number


def _real(tokens: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    return (token for token in tokens if not _is_padding(token["content"], token["id"]))


def _added(token: Mapping[str, Any]) -> dict[str, Any]:
    """`special` is left out: it decides what decoding hides, not how a text is cut."""
    flags = ("single_word", "lstrip", "rstrip", "normalized")
    return {"id": token["id"], "content": token["content"]} | {flag: bool(token.get(flag)) for flag in flags}


def _step(step: Any) -> Any:
    """A normaliser or pre-tokeniser; a sequence of one step is that step, of none is nothing."""
    if isinstance(step, Mapping):
        parts = step.get("normalizers", step.get("pretokenizers"))
        if step.get("type") == "Sequence" and isinstance(parts, list):
            steps = [inner for inner in map(_step, parts) if inner is not None]
            return steps[0] if len(steps) == 1 else {"type": "Sequence", "steps": steps} if steps else None
        return {key: _step(value) for key, value in step.items() if key not in _SILENT and value is not None}
    return step
