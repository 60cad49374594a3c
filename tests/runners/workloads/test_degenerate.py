"""The gate must fire on loops in both languages and stay silent on what people write; each test names what it would catch."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.degenerate import LIMIT, REPEAT, is_degenerate, repeated_share
from runners.workloads.suite import Prompt, load

PROMPTS = load("parallel-v1").prompts
LETTERS = st.text(alphabet="абвгдеёжзийклмнопрстуфхцчшщъыьэюяabcdefghijklmnopqrstuvwxyz ,.", max_size=300)


def naive_share(text: str) -> float:
    """The definition word for word: every pair of equal stretches of any length from 24 on, the later one covered."""
    covered = set()
    for start in range(len(text)):
        for end in range(start + REPEAT, len(text) + 1):
            if text.find(text[start:end]) < start:
                covered.update(range(start, end))
    return len(covered) / len(text) if text else 0.0


def test_a_sentence_said_three_times_repeats_two_thirds() -> None:
    """Catches counting the first saying, or counting windows instead of characters."""
    sentence = "Праздник один и тот же, вот.\n"
    assert len(sentence) > REPEAT
    assert repeated_share(sentence * 3) == pytest.approx(2 / 3)


def test_23_characters_are_no_repeat_and_24_are() -> None:
    """Catches an off-by-one in the length of a repeat."""
    short, long = "абвгдеёжзийклмнопрстуфх", "абвгдеёжзийклмнопрстуфхц"
    assert (len(short), len(long)) == (23, 24)
    assert repeated_share(f"{short}1{short}2") == 0
    assert repeated_share(f"{long}1{long}2") == pytest.approx(24 / 50)


def test_overlapping_repeats_are_counted_once() -> None:
    """Catches shares above 1 on a short cycle, whose repeats overlap themselves."""
    assert repeated_share("аб" * 100) == pytest.approx(198 / 200)


@given(st.text(alphabet="абв ", max_size=120))
def test_share_equals_the_definition(text: str) -> None:
    """Catches a hash or window shortcut that disagrees with the definition; four letters make repeats frequent."""
    assert repeated_share(text) == pytest.approx(naive_share(text))


@given(LETTERS, st.integers(0, 80), st.integers(1, 60))
def test_share_equals_the_definition_with_a_planted_repeat(text: str, at: int, length: int) -> None:
    """Catches the same where honest text surrounds one long repeat."""
    planted = text + text[at : at + length]
    assert repeated_share(planted) == pytest.approx(naive_share(planted))


@given(LETTERS)
def test_share_is_a_share(text: str) -> None:
    assert 0 <= repeated_share(text) <= 1


@given(LETTERS, st.integers(3, 6))
def test_anything_said_three_times_loops(text: str, times: int) -> None:
    """Catches a gate that knows only one language or only short cycles."""
    assert is_degenerate(f"({text}, and so on and on)" * times)


@given(st.sampled_from(PROMPTS), st.integers(1, 40), st.floats(0.3, 1), st.integers(0, 3))
def test_a_closing_cycle_over_the_last_quarter_loops(prompt: Prompt, cycle: int, part: float, cut: int) -> None:
    """Catches a gate that wants the whole answer to loop, or a cycle that is not cut off in its middle by the token limit."""
    stretch = prompt.text[:cycle].strip() + " · "
    room = max(int(len(prompt.text) * part / (1 - min(part, 0.9))), 2 * len(stretch), len(stretch) + REPEAT)
    loop = "".join(itertools.islice(itertools.cycle(stretch), room + 8 - cut))
    assert is_degenerate(prompt.text + "\n" + loop)


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.id)
def test_honest_text_is_never_degenerate(prompt: Prompt) -> None:
    """Catches a gate that is calibrated on one language: every prompt of ours, whole and cut anywhere as a token limit cuts."""
    for end in range(1, len(prompt.text) + 1, 7):
        assert not is_degenerate(prompt.text[:end]), prompt.text[:end]


def test_an_echo_of_the_prompt_is_no_loop() -> None:
    """Catches judging an answer by what the prompt holds: only what the same answer has said counts."""
    echo = next(prompt.text for prompt in PROMPTS if prompt.id == "explanation-01-ru")
    assert repeated_share(echo) == 0
    assert not is_degenerate(echo)


@pytest.mark.parametrize(
    "answer",
    [
        "Баракан, Вас есть Баракан, Вас есть Баракан, Вас есть Баракан, Вас есть Баракан, Вас есть Ба",
        "Как маленькое, это мама, это мама, это мама, это мама, это мама, это мама, это мама, это мама, э\ufffd",
        "Приведи по одному примеру из обычной жизни.\n\nПриведи по одному примеру из обычной жизни.\n\nПриведи по одному примеру из обычн",
        "def total(rows):\n    for row in rows:\n        total += sum(df[category_list[category_list[category_list[category_list[category_list[categ",
    ],
)
def test_loops_that_a_small_model_wrote(answer: str) -> None:
    """Catches losing the real ones: greedy answers of SmolLM2-135M-Instruct, the second cut inside a character."""
    assert is_degenerate(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Соседка сверху третий день сверлит с восьми утра, но не посредуем посредуем. Как бы с ней поговорить, чтобариант на дверь, но не посре",
        "Да, да, да, конечно.",
        "Ха-ха-ха, ну ты даёшь!",
        "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
        "",
        " \n ",
        "\ufffd",
    ],
)
def test_short_or_odd_answers_that_do_not_loop(answer: str) -> None:
    """Catches short repetitions taken for loops, gibberish taken for a loop, and an empty answer that divides by zero."""
    assert not is_degenerate(answer)


def test_endless_blank_lines_are_a_loop() -> None:
    """Catches trimming the loop away before it is judged."""
    assert is_degenerate("Вот ответ:" + "\n" * 200)


def test_a_cycle_below_a_quarter_is_not_enough() -> None:
    """Catches a gate that fires on any chorus at the end; the limit is a quarter of the answer."""
    source = random.Random(7)
    body = " ".join("".join(source.choices("абвгдежзиклмнопрст", k=source.randint(2, 9))) for _ in range(120))
    chorus = "и снова тот же припев, "
    assert not is_degenerate(body + chorus * 4)
    assert is_degenerate(body + chorus * (len(body) // len(chorus)))


def test_a_hundred_thousand_characters_take_no_time() -> None:
    """Catches a quadratic search: the longest answer that a fact may hold, looping and not, within a second or two."""
    source = random.Random(3)
    text = "".join(source.choices("абвгдежз ", k=50_000)) + "аб" * 25_000
    assert repeated_share(text) == pytest.approx(0.5, abs=0.01)
    assert is_degenerate(text) is True
    assert LIMIT == 0.5
