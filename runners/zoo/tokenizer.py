"""The one tokenizer of the zoo: byte-level BPE that both languages had the same say in, so that neither pays more tokens for its text."""

from collections.abc import Sequence
from typing import Any

from runners.zoo.models.base import END, VOCABULARY
from runners.zoo.text import Page

END_WORD = "<|end|>"


def train(pages: Sequence[Page]) -> Any:
    """A tokenizer of transformers with 6144 entries, of which `<|end|>` is the first. As many characters of each language are counted."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    model = Tokenizer(models.BPE())
    model.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    model.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[END_WORD], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    model.train_from_iterator(_even([page for page in pages if not page.held_out]), trainer)
    if model.token_to_id(END_WORD) != END:
        raise RuntimeError(f"{END_WORD} became {model.token_to_id(END_WORD)} instead of {END}")
    fast: Any = PreTrainedTokenizerFast
    return fast(tokenizer_object=model, bos_token=END_WORD, eos_token=END_WORD, clean_up_tokenization_spaces=False)


def _even(pages: Sequence[Page]) -> list[str]:
    """Pages of both languages, cut off where the shorter language ends."""
    own = {language: [page.text for page in pages if page.language == language] for language in sorted({page.language for page in pages})}
    budget = min(sum(map(len, texts)) for texts in own.values())
    even = []
    for texts in own.values():
        left = budget
        for text in texts:
            even.append(text[:left])
            left -= len(even[-1])
    return even
