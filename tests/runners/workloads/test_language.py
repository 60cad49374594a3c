"""Measured language: judged on an answer's own words, undetermined rather than guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.degenerate import REPEAT
from app.domain.prompt import Prompt
from runners.workloads.language import MIN_LETTERS, Measured, agrees, measure, own_words, verify_prompts
from runners.workloads.suite import load, select

RU = "Лёд скользкий, потому что на его поверхности всегда есть тонкий слой почти жидкой воды."
EN = "Ice is slippery because its surface always carries a thin layer of nearly liquid water."
SUITE = load("parallel-v1")


@pytest.mark.parametrize(("text", "language"), [(RU, "ru"), (EN, "en")])
def test_plain_answers(text: str, language: str) -> None:
    assert measure(text, declared="ru").language == language


def test_an_english_answer_to_a_russian_prompt_is_english() -> None:
    """Catches trusting the declared language: this is what a refusal `ru→en` is made of."""
    assert measure(EN, declared="ru", quoted="Почему лёд скользкий?").language == "en"


@pytest.mark.parametrize(
    "noise",
    [
        "```python\nfor index in range(10):\n    print(total_amount, customer_name, delivery_address)\n```",
        "```python\nfor index in range(10):\n    print(total_amount, customer_name, delivery_address)",
        "`some_function_with_an_english_name(argument, another_argument)` `another_identifier_in_english`",
        "<pre>for (let item of items) console.log(item.customerName, item.deliveryAddress)</pre>",
        "https://example.org/a/very/long/english/address/about/slippery/ice/and/water",
        "1234567890 1234567890 1234567890",
    ],
)
def test_code_addresses_and_digits_do_not_count(noise: str) -> None:
    """Catches English code deciding the language of a Russian answer, also in a fence that the token limit left open."""
    found = measure(f"{RU}\n{noise}", declared="ru")
    assert found == Measured(language="ru", letters=sum(map(str.isalpha, RU)))


def test_what_is_quoted_from_the_prompt_does_not_count() -> None:
    """Catches a model that repeats the Russian question and answers in English: the echo would make it Russian."""
    prompt = RU * 3
    assert measure(f"{prompt} {EN}", declared="ru", quoted=prompt).language == "en"
    assert measure(f"{prompt} {EN}", declared="ru").language == "ru"


def test_a_pure_echo_is_undetermined() -> None:
    """Catches calling an echo an answer in the language of the prompt; case and line breaks do not hide it."""
    assert measure(RU.upper().replace(" ", "\n"), declared="ru", quoted=f"Повтори: {RU}") == Measured(language=None, letters=0)


def test_39_letters_are_undetermined_and_40_are_not() -> None:
    """Catches an off-by-one at the limit of definitions § 5."""
    text = "Лёд скользкий потому что на нём всегда есть вод"
    assert MIN_LETTERS == 40
    assert measure(text, declared="ru") == Measured(language=None, letters=39)
    assert measure(text + "а", declared="ru") == Measured(language="ru", letters=40)


def test_a_language_no_detector_knows_is_undetermined() -> None:
    """Catches every answer in a rare language being refused as another one (Chuvash has no model)."""
    assert measure(RU, declared="cv") == Measured(language=None, letters=sum(map(str.isalpha, RU)))


def test_a_declared_language_outside_the_list_is_found() -> None:
    """Catches a fixed list: Kazakh is measured when Kazakh is asked for."""
    kazakh = "Мұз тайғақ болады, өйткені оның бетінде әрқашан жұқа су қабаты бар, сондықтан аяқ тайып кетеді."
    assert measure(kazakh, declared="kk").language == "kk"


@pytest.mark.parametrize(
    ("measured", "declared", "same"), [("ru", "ru-RU", True), ("nb", "no", True), ("uk", "ru", False), ("zh", "zh-Hans", True), ("nb", "sv", False)]
)
def test_tags_agree_by_their_base(measured: str, declared: str, same: bool) -> None:
    assert agrees(measured, declared) is same


@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_suite_is_in_the_languages_it_says(language: str) -> None:
    """Catches a prompt filed under the wrong language, code and quotes included."""
    prompts = select(SUITE, language)
    assert len(prompts) == 24
    assert verify_prompts(prompts, language) == ()
    assert all(measure(prompt.text, declared=language).language == language for prompt in prompts)


def test_swapped_prompts_are_found_by_name() -> None:
    """Catches a pre-flight that passes whatever it is given."""
    wrong = verify_prompts(select(SUITE, "en", None, 4), "ru")
    assert [(one.prompt, one.measured) for one in wrong] == [(prompt.id, "en") for prompt in select(SUITE, "en", None, 4)]


def test_a_prompt_too_short_to_tell_passes() -> None:
    short = Prompt(id="a-ru", language="ru", profile="dialogue", answer="prompt", text="Hello there")
    assert verify_prompts([short], "ru") == ()


@given(st.text(max_size=300), st.text(max_size=300))
def test_quotes_are_removed_whatever_the_text(answer: str, prompt: str) -> None:
    """Catches positions that shift where a capital grows when lowered (İ), and quotes that survive."""
    own = own_words(answer, prompt)
    source = " ".join(prompt.split()).lower()
    assert all(own[start : start + REPEAT].lower() not in source for start in range(len(own) - REPEAT + 1) if own[start : start + REPEAT].strip())
