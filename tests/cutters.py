"""Small tokenizers, made here, for tests that need two of them."""

import json
from collections.abc import Iterable
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast


def letters(alphabet: str) -> Any:
    """A token a letter, in this order."""
    made = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made)


def byte_level(texts: Iterable[str], size: int) -> Any:
    """A byte-level BPE as GPT-2's and SmolLM2's are: a character of Russian may be two tokens."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, special_tokens=["<|im_start|>", "<|im_end|>"]))
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|im_end|>")


def sentence_piece(texts: Iterable[str], size: int) -> Any:
    """A BPE as Gemma's is: a mark for spaces, whole characters, bytes where a character is not in the vocabulary, a token that begins each text."""
    marks = ["<unk>", "<bos>", "<eos>"]
    taught = Tokenizer(models.BPE(unk_token="<unk>"))
    taught.normalizer = normalizers.Replace(" ", "▁")
    taught.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, special_tokens=marks))
    model = json.loads(taught.to_str())["model"]
    pieces = [*model["vocab"], *(f"<0x{byte:02X}>" for byte in range(256))]
    merges = [tuple(merge) for merge in model["merges"]]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    made.add_special_tokens(marks)
    made.normalizer = taught.normalizer
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    made.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", marks.index("<bos>"))])
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<bos>", eos_token="<eos>", unk_token="<unk>")
