"""Two tokenizers over one text."""

import random

import pytest

from runners.engine.translation import BROKEN, LOOKBACK, Translation, aligned, spelled
from tests.cutters import byte_level, sentence_piece

RUSSIAN = "Безмен — это ручные весы: на них вешают груз и читают, сколько он весит. Один и тот же груз весит одинаково, кто бы его ни вешал. "
ENGLISH = "A steelyard is a balance with arms of unequal length: you hang the load on it and read the truth, whoever hangs it there. "
# What the tokenizers learn is not what they are tried on.
LEARNT = [RUSSIAN[:70], ENGLISH[:60], "the load the truth груз весит весы it is и на не он"]
THEIRS = byte_level(LEARNT, 300)
OWN = {"sentence piece": sentence_piece(LEARNT, 120), "byte level": byte_level([ENGLISH, RUSSIAN], 340)}


@pytest.fixture(params=OWN)
def pair(request: pytest.FixtureRequest) -> Translation:
    own = OWN[str(request.param)]
    return Translation(THEIRS, own, (len(THEIRS), len(own)))


def ids(text: str) -> list[int]:
    return list(THEIRS(text)["input_ids"])


@pytest.mark.parametrize("text", [RUSSIAN, ENGLISH, "Код: print('привет')\n\tx = 3.14  # π 🙂\n" * 2])
def test_a_draft_that_is_right_comes_back_as_the_targets_own_tokens(pair: Translation, text: str) -> None:
    """Catches a lost space, a character cut in two, a place one token off and markup in a draft: at almost every place of a text the drafter's tokens
    of what follows are the target's tokens of what follows."""
    whole, good, places = ids(text), 0, 0
    for end in range(1, len(whole) - 1):
        before = pair.own(whole[:end])
        so_far = THEIRS.decode(whole[:end]).rstrip(BROKEN)
        following = pair._own(so_far + text[len(so_far) :][:24])["input_ids"]
        if following[: len(before)] != before:
            # The last token of the drafter would grow; what it drafts behind it is another matter.
            continue
        draft = pair.back(whole[:end], before, following[len(before) :])
        wanted = whole[end : end + len(draft)]
        places += 1
        # A draft that ends inside a word has other last tokens than the whole word.
        good += draft[:-4] == wanted[:-4] and len(draft) > 4
    assert places > 20
    assert good >= 0.95 * places


def test_the_drafter_reads_the_text_and_no_markup(pair: Translation) -> None:
    """Catches chat markup that another model was never taught, a missing first token, and half a character."""
    start, end = THEIRS.convert_tokens_to_ids(["<|im_start|>", "<|im_end|>"])
    text = [start, *ids("вопрос"), end, *ids("ответ ")]
    assert pair.own(text) == pair._own("вопросответ ")["input_ids"]
    half = ids("Ж")
    assert len(half) > 1
    assert pair.own([*ids("груз "), half[0]]) == pair._own("груз ")["input_ids"]
    assert not pair.whole([*ids("груз "), half[0]])
    assert pair.whole(ids("груз Ж"))


def test_what_the_drafter_ends_its_text_with_ends_the_draft(pair: Translation) -> None:
    """Catches the drafter's markup, or what stands behind it, taken for text."""
    before, more = pair.own(ids("груз весит")), pair._own("груз весит сколько")["input_ids"]
    tail = [*more[len(before) :], pair._own.eos_token_id, *more[1:]]
    assert pair.back(ids("груз весит"), before, tail) == pair.back(ids("груз весит"), before, more[len(before) :])
    assert pair.back(ids("груз весит"), before, [pair._own.eos_token_id]) == []


def test_alignment_is_the_longest_run_by_brute_force() -> None:
    """Catches an alignment at an earlier repeat of the same few tokens, and one beside the end."""
    dice = random.Random(7)
    for _ in range(2000):
        committed = [dice.randrange(3) for _ in range(dice.randint(1, LOOKBACK))]
        again = [dice.randrange(3) for _ in range(dice.randint(0, 5))] + committed[dice.randint(0, 2) :] + [dice.randrange(3) for _ in range(4)]
        runs = {
            end: max(n for n in range(min(end, len(committed)) + 1) if n == 0 or again[end - n : end] == committed[-n:])
            for end in range(1, len(again) + 1)
        }
        longest = max(runs.values())
        nearest = min((end for end, run in runs.items() if run == longest), key=lambda end: (abs(end - len(committed)), -end))
        found = aligned(committed, again)
        assert found == (nearest if longest >= min(8, len(committed)) else None)
    assert aligned([1, 2], []) is None


def test_shared_tokens_are_the_same_text_in_both(pair: Translation) -> None:
    """Catches spellings taken for texts: a byte-level vocabulary and SentencePiece's write the same space differently."""
    own, theirs = pair.shared
    assert len(own) == len(set(own)) == len(set(theirs)) > 50
    assert not set(own) & set(pair._own.all_special_ids)
    assert not set(theirs) & set(THEIRS.all_special_ids)
    both = [(pair._own.decode([a]), THEIRS.decode([b])) for a, b in zip(own, theirs, strict=True)]
    assert all(a == b for a, b in both)
    assert any(a.startswith(" ") and len(a) > 1 for a, _ in both)
    assert any(ord(a[0]) > 1024 for a, _ in both if a and a != BROKEN)


def test_tokens_past_the_models_rows_are_left_out() -> None:
    """Catches an index past the logits where a tokenizer has more entries than its model."""
    assert max(spelled(THEIRS, 100).values()) < 100
    assert len(spelled(THEIRS, 100)) < len(spelled(THEIRS, 10_000))
