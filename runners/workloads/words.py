"""Words of a text: counted here and nowhere else."""

import unicodedata

from app.domain.language import base_of

# Written without spaces between words; a letter is the unit there, since words could only be guessed.
UNSPACED = frozenset({"zh", "yue", "ja", "th", "lo", "km", "my"})
_JOINERS = frozenset("'’ʼ-‐‑.,")


def count_words(text: str, language: str) -> int:
    """Runs of letters, marks and digits, so that punctuation alone is no word.

    An apostrophe or hyphen between letters joins ("don't", "кто-то"), and so does a point or comma between digits ("3,5"). In a language written
    without spaces every letter without case (Han, kana, Thai) counts as one.
    """
    single = base_of(language) in UNSPACED
    words = 0
    inside = False
    for index, sign in enumerate(text):
        if _is_inner(sign):
            alone = single and unicodedata.category(sign) in {"Lo", "Lm"}
            words += alone or not inside
            inside = not alone
        elif unicodedata.category(sign)[0] != "M":
            inside = inside and sign in _JOINERS and _joins(text, index)
    return words


def count_letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _is_inner(sign: str) -> bool:
    return sign.isalnum() or unicodedata.category(sign)[0] == "N"


def _joins(text: str, index: int) -> bool:
    before, after = text[index - 1], text[index + 1 : index + 2]
    if text[index] in ".,":
        return before.isdigit() and after.isdigit()
    return after.isalnum() and (before.isalnum() or unicodedata.category(before)[0] == "M")
