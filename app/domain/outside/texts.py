"""What reading the answers of a file tells of them: in which letters they are written, and how many loop. The texts themselves are not kept."""

import re
from collections.abc import Iterable
from math import ceil
from typing import Annotated, Literal

import langcodes
from langcodes.data_dicts import LIKELY_SUBTAGS
from pydantic import Field

from app.domain.degenerate import is_degenerate
from app.domain.language import base_of
from app.domain.value import Value

Script = Literal["Cyrl", "Latn"]
# An answer of fewer letters is not judged by them.
FEWEST_LETTERS = 40
# Characters that are read of one answer, and of a file; of a longer file every second answer, or every third, is read.
MOST_OF_ONE, MOST_READ = 50_000, 2_000_000
_NO_WORDS = (
    re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL), re.compile(r"`[^`\n]*`"), re.compile(r"</?[a-z][^<>\n]*>", re.IGNORECASE),
    re.compile(r"(?:https?://|www\.)\S+|\b[\w.+-]{1,64}@[\w-]+\.\w+", re.IGNORECASE),
)  # fmt: skip
_CYRILLIC = re.compile("[\u0400-\u052f]+")
_LATIN = re.compile("[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]+")
# Languages that are written in both, unless their tag says in which.
_EITHER = frozenset({"sr", "sh", "bs", "uz", "kk", "az", "tk", "tt", "mo"})

Number = Annotated[int, Field(ge=0)]


class Texts(Value):
    """Of `answers` that a file holds `read` were read. Letters are those of both scripts, without code, markup and addresses; `judged` are answers
    with 40 of them at least, `in_cyrillic` and `in_latin` those with more than half in one script. `looping` is judged as in runs, of all that were
    read."""

    answers: Number
    read: Number
    cyrillic_letters: Number
    latin_letters: Number
    judged: Number
    in_cyrillic: Number
    in_latin: Number
    looping: Number

    def letters_in(self, script: Script) -> int:
        return self.cyrillic_letters if script == "Cyrl" else self.latin_letters

    def answers_in(self, script: Script) -> int:
        return self.in_cyrillic if script == "Cyrl" else self.in_latin


def texts_of(answers: Iterable[str]) -> Texts | None:
    """None where a file holds no text of an answer."""
    told = [each[:MOST_OF_ONE] for each in answers if each.strip()]
    if not told:
        return None
    every = max(1, ceil(sum(map(len, told)) / MOST_READ))
    chosen = told[::every]
    letters = [_letters(each) for each in chosen]
    judged = [(cyrillic, latin) for cyrillic, latin in letters if cyrillic + latin >= FEWEST_LETTERS]
    return Texts(
        answers=len(told),
        read=len(chosen),
        cyrillic_letters=sum(cyrillic for cyrillic, _ in letters),
        latin_letters=sum(latin for _, latin in letters),
        judged=len(judged),
        in_cyrillic=sum(cyrillic > latin for cyrillic, latin in judged),
        in_latin=sum(latin > cyrillic for cyrillic, latin in judged),
        looping=sum(map(is_degenerate, chosen)),
    )


def script_of(language: str) -> Script | None:
    """The script that a language is written in; None where that is neither of the two, or may be both."""
    tag, base = langcodes.Language.get(language), base_of(language)
    # What is not in the table would be taken for English.
    if tag.script is None and (base in _EITHER or base not in LIKELY_SUBTAGS):
        return None
    script = tag.maximize().script
    return "Cyrl" if script == "Cyrl" else "Latn" if script == "Latn" else None


def _letters(text: str) -> tuple[int, int]:
    for pattern in _NO_WORDS:
        text = pattern.sub(" ", text)
    return len(text) - len(_CYRILLIC.sub("", text)), len(text) - len(_LATIN.sub("", text))
