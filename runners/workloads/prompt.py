"""One prompt of a suite, and the error of everything that reads suites."""

import difflib
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from app.domain.language import Language
from app.domain.spec import Name
from app.domain.value import Value


class SuiteError(Exception):
    """The suite cannot be used; each line of the message names the place and what would be right."""


class Prompt(Value):
    """`parallel` is shared by the twins in other languages. `answer` is what it should be in: the language of the prompt, code, another."""

    id: Name
    parallel: Name | None = None
    language: Language
    profile: Name
    answer: Literal["prompt", "code", "other"]
    text: Annotated[str, Field(min_length=1, max_length=32_768, pattern=r"\S")]


def did_you_mean(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; it has {', '.join(known)}" if known else ""
