import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.workloads.words import count_letters, count_words


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("", "ru", 0),
        (" … — !? ", "ru", 0),
        ("Кто-то где-то ждёт.", "ru", 3),
        ("Don't panic, it's 3.5 o’clock", "en", 5),
        ("цена 1,5 млн, скидка 10%", "ru", 5),
        ("слово,слово.слово", "ru", 3),
        ("за́мок и замо́к", "ru", 3),
        ("snake_case", "en", 2),
        ("- пункт\n- ещё пункт", "ru", 3),
        ("हिन्दी में लिखो", "hi", 3),
        ("今天天气很好。", "zh", 6),
        ("我用 Python 写代码", "zh", 6),
        ("今天天气很好。", "ru", 1),
        ("कि", "hi", 1),
    ],
)
def test_words(text: str, language: str, words: int) -> None:
    """Catches splitting at hyphens, apostrophes, stress marks and vowel signs, counting punctuation, and one "word" for a Chinese sentence."""
    assert count_words(text, language) == words


@given(st.lists(st.text(alphabet="абвгдxyz0123", min_size=1, max_size=9), max_size=30), st.sampled_from([" ", "\n", " — ", ", ", "  "]))
def test_words_joined_by_space_or_punctuation_are_as_many(words: list[str], glue: str) -> None:
    """Catches a count that depends on the separator."""
    assert count_words(glue.join(words), "ru") == len(words)


@given(st.text(max_size=200))
def test_never_more_words_than_signs(text: str) -> None:
    assert 0 <= count_words(text, "ja") <= len(text)


def test_letters_leave_out_digits_and_marks() -> None:
    assert count_letters("Ёж 1, ab_") == 4
