"""The fingerprint follows what decides ids, and nothing else."""

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.domain.tokenizer import TokenizerIdentity, fingerprint, vocabulary

BPE: dict[str, Any] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [{"id": 4, "content": "<|end|>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}],
    "normalizer": {"type": "NFC"},
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    "post_processor": None,
    "decoder": {"type": "ByteLevel"},
    "model": {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "byte_fallback": False,
        "vocab": {"a": 0, "b": 1, "ab": 2, "abb": 3},
        "merges": ["a b", "ab b"],
    },
}
UNIGRAM: dict[str, Any] = {"added_tokens": [], "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁а", -1.5], ["б", -2.25]]}}


def changed(base: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    content = copy.deepcopy(base)
    change(content)
    return content


def test_a_golden_by_hand() -> None:
    """Catches a silent change of the canonical form: figures measured before would stop matching their own tokenizer."""
    canonical = (
        '{"added":[{"content":"<|end|>","id":4,"lstrip":false,"normalized":false,"rstrip":false,"single_word":false}],'
        '"model":{"merges":[["a","b"],["ab","b"]],"type":"BPE"},"normalizer":{"type":"NFC"},'
        '"pre_tokenizer":{"add_prefix_space":false,"type":"ByteLevel","use_regex":true},'
        '"vocabulary":[["a",0],["b",1],["ab",2],["abb",3],["<|end|>",4]]}'
    )
    assert fingerprint(BPE) == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(post_processor={"type": "ByteLevel"}),
        lambda c: c.update(decoder=None),
        lambda c: c.update(truncation={"max_length": 8}, padding={"pad_id": 0}),
        lambda c: c.update(version="2.0"),
        lambda c: c["model"].update(merges=[["a", "b"], ["ab", "b"]]),
        lambda c: c["model"].pop("byte_fallback"),
        lambda c: c["model"].update(continuing_subword_prefix="", end_of_word_suffix=None, fuse_unk=False),
        lambda c: c["pre_tokenizer"].update(trim_offsets=False),
        lambda c: c.update(pre_tokenizer={"type": "Sequence", "pretokenizers": [c["pre_tokenizer"]]}),
        lambda c: c.update(normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}]}),
        lambda c: c["model"]["vocab"].update({"<|end|>": 4}),
        lambda c: c["model"]["vocab"].update({"[PAD5]": 5, "[PAD6]": 6}),
        lambda c: c["added_tokens"].append({"id": 5, "content": "[PAD5]", "special": False}),
        lambda c: c["added_tokens"][0].update(special=False),
    ],
)
def test_what_does_not_decide_ids_does_not_count(change: Callable[[dict[str, Any]], object]) -> None:
    """Catches two copies of one tokenizer that would look different: other post-processing, spelling of merges, padding rows, unset defaults."""
    assert fingerprint(changed(BPE, change)) == fingerprint(BPE)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["model"]["vocab"].update(a=1, b=0),
        lambda c: c["model"]["vocab"].update(c=5),
        lambda c: c["model"].update(merges=["ab b", "a b"]),
        lambda c: c["model"].update(merges=["a b"]),
        lambda c: c["model"].update(byte_fallback=True),
        lambda c: c["model"].update(ignore_merges=True),
        lambda c: c.update(normalizer=None),
        lambda c: c.update(normalizer={"type": "NFKC"}),
        lambda c: c["pre_tokenizer"].update(add_prefix_space=True),
        lambda c: c.update(pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, c["pre_tokenizer"]]}),
        lambda c: c["added_tokens"][0].update(content="<|stop|>"),
        lambda c: c["added_tokens"][0].update(lstrip=True),
        lambda c: c["added_tokens"].append({"id": 5, "content": "<|begin|>"}),
        lambda c: c["model"]["vocab"].update({"[PAD7]": 5}),
    ],
)
def test_what_decides_ids_counts(change: Callable[[dict[str, Any]], object]) -> None:
    """Catches a retrained or edited tokenizer that would pass for the original; a [PAD7] that is not row 7 is a token."""
    assert fingerprint(changed(BPE, change)) != fingerprint(BPE)


@pytest.mark.parametrize(
    "change",
    [lambda c: c["model"]["vocab"][1].__setitem__(1, -1.25), lambda c: c["model"].update(unk_id=None), lambda c: c["model"]["vocab"].reverse()],
)
def test_unigram_scores_and_the_unknown_token_count(change: Callable[[dict[str, Any]], object]) -> None:
    """Catches reading only pieces of a Unigram model, and an unknown token with id 0 taken for none."""
    assert fingerprint(changed(UNIGRAM, change)) != fingerprint(UNIGRAM)


def test_unigram_padding_does_not_count() -> None:
    assert fingerprint(changed(UNIGRAM, lambda c: c["model"]["vocab"].append(["[PAD3]", 0.0]))) == fingerprint(UNIGRAM)


@given(st.randoms(use_true_random=False))
def test_key_order_does_not_count(source: Any) -> None:
    """Catches hashing a file instead of its content."""

    def shuffled(node: Any) -> Any:
        if isinstance(node, dict):
            keys = list(node)
            source.shuffle(keys)
            return {key: shuffled(node[key]) for key in keys}
        return [shuffled(child) for child in node] if isinstance(node, list) else node

    assert fingerprint(shuffled(BPE)) == fingerprint(BPE)


@given(st.dictionaries(st.text(min_size=1, max_size=4), st.integers(0, 50), min_size=1, max_size=8))
def test_equal_vocabularies_are_what_makes_fingerprints_equal(entries: dict[str, int]) -> None:
    """Catches collisions by joining tokens without a separator."""
    one = {"model": {"type": "WordLevel", "vocab": entries}}
    other = json.loads(json.dumps(one))
    assert fingerprint(one) == fingerprint(other)
    token = next(iter(entries))
    other["model"]["vocab"][token + "x"] = other["model"]["vocab"].pop(token)
    assert (vocabulary(one) == vocabulary(other)) == (fingerprint(one) == fingerprint(other))


def test_the_vocabulary_counts_added_tokens_and_no_padding() -> None:
    padded = changed(BPE, lambda c: c["model"]["vocab"].update({"[PAD5]": 5}))
    assert len(vocabulary(padded)) == 5


@pytest.mark.parametrize("content", [{}, {"model": None}, {"model": {"vocab": {}}}])
def test_what_is_no_tokenizer_is_refused(content: dict[str, Any]) -> None:
    """Catches one fingerprint shared by everything that failed to load."""
    with pytest.raises(ValueError, match="no tokenizer"):
        fingerprint(content)


@pytest.mark.parametrize("merge", ["ab", "a b c", ["a"], []])
def test_a_merge_that_is_no_pair_is_refused(merge: object) -> None:
    with pytest.raises(ValueError, match="a merge joins two tokens"):
        fingerprint(changed(BPE, lambda c: c["model"].update(merges=[merge])))


@pytest.mark.parametrize("text", ["", "g" * 64, "A" * 64, "a" * 63])
def test_an_identity_needs_a_whole_fingerprint(text: str) -> None:
    """Catches a passport with a shortened or missing fingerprint."""
    with pytest.raises(ValidationError, match="fingerprint"):
        TokenizerIdentity(name="x", fingerprint=text, vocabulary=1)
