"""One prompt of a suite, and what may be wrong with the file that it comes from."""

import difflib
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from app.domain import spelling
from app.domain.language import standard_tag
from app.domain.sentence import Sentence
from app.domain.spec import Name
from app.domain.value import Value

LONGEST_TEXT = 32_768


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("the character NUL cannot be stored")
    return text


class Prompt(Value):
    """`parallel` is shared by the twins in other languages. `answer` is what it should be in: the language of the prompt, code, another."""

    id: Name
    parallel: Name | None = None
    language: Annotated[str, Field(max_length=64), AfterValidator(standard_tag)]
    profile: Name
    answer: Literal["prompt", "code", "other"]
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, pattern=spelling.TEXT), AfterValidator(_storable)]


class Fault(Value):
    """What is wrong, or worth a warning, at one place of a suite's file; the text of a prompt is never repeated. `line` is None for the file as a
    whole, `field` for the line as a whole."""

    line: int | None = None
    field: str | None = None
    sentence: Sentence

    def __str__(self) -> str:
        """In English, for whoever has no catalogue."""
        place = ", ".join(part for part in (f"line {self.line}" if self.line else "", self.field or "") if part)
        said = self.sentence.text % self.sentence.values if self.sentence.values else self.sentence.text
        return f"{place}: {said}" if place else said


class SuiteError(Exception):
    """The suite cannot be used; each line of the message names the place and what would be right. `faults` are those of a suite's file."""

    def __init__(self, message: str, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)


def nearest(word: str, known: Sequence[str]) -> str | None:
    return next(iter(difflib.get_close_matches(word, known, n=1)), None)


def did_you_mean(word: str, known: Sequence[str]) -> str:
    close = nearest(word, known)
    return f"; did you mean {close!r}?" if close else f"; it has {', '.join(known)}" if known else ""
