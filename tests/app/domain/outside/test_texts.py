"""In which letters answers are written, and how many loop."""

import time

import pytest

from app.domain.outside.texts import MOST_READ, script_of, texts_of

RU = "Лодка вышла из гавани на рассвете и вернулась только к вечеру, когда поднялся ветер."
EN = "The boat left the harbour at dawn and came back in the evening, when the wind had risen."


@pytest.mark.parametrize(
    ("language", "script"),
    [
        ("ru", "Cyrl"), ("uk", "Cyrl"), ("be", "Cyrl"), ("bg", "Cyrl"), ("en", "Latn"), ("de", "Latn"), ("pt-BR", "Latn"), ("ru-Latn", "Latn"),
        ("sr", None), ("sr-Cyrl", "Cyrl"), ("sr-Latn", "Latn"), ("kk", None), ("el", None), ("zh", None), ("qaa", None), ("x-private", None),
    ],
)  # fmt: skip
def test_the_script_of_a_language(language: str, script: str | None) -> None:
    """Catches a language of two scripts that is held to one, and one that nobody knows taken for a Latin one."""
    assert script_of(language) == script


def test_answers_are_counted_by_their_letters() -> None:
    """Catches code, addresses and markup counted as the language of an answer, and one of few letters that is judged."""
    found = texts_of([RU, EN, "Да.", "", f"{RU}\n```python\n{EN}\n{EN[::-1]}\n```", f"{RU} `{EN[30:]}` https://example.org/a/b/c <b class='x'>"])
    assert found is not None
    assert (found.answers, found.read, found.judged, found.in_cyrillic, found.in_latin, found.looping) == (5, 5, 4, 3, 1, 0)
    assert found.latin_letters == sum(sign.isalpha() for sign in EN)
    assert found.cyrillic_letters == 3 * sum(sign.isalpha() for sign in RU) + 2


def test_loops_are_those_of_runs() -> None:
    """Catches a loop that is judged otherwise here than in a run."""
    found = texts_of([RU, "кульция, как объядожная " * 9])
    assert found is not None
    assert found.looping == 1


def test_without_a_text_nothing_was_read() -> None:
    """Catches "read" said of a file that holds no answer."""
    assert texts_of([]) is None
    assert texts_of(["", " \n"]) is None


def test_a_long_file_is_read_in_part_and_says_so() -> None:
    """Catches a file of a million words that is read for minutes, and a part of it called the whole."""
    many = [f"{place} {EN}" * 30 for place in range(3 * MOST_READ // (30 * len(EN)))]
    started = time.monotonic()
    found = texts_of(many)
    assert found is not None
    assert found.answers == len(many)
    assert len(many) / 5 < found.read < len(many) / 2
    assert time.monotonic() - started < 120
