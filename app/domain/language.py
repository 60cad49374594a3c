"""Languages are BCP-47 tags; a run without one is never built."""

from typing import Annotated

import langcodes
from langcodes.tag_parser import LanguageTagError
from pydantic import AfterValidator


def standard_tag(text: str) -> str:
    """The standard form of a BCP-47 tag ("RU" -> "ru").

    Raises ValueError when the text is not a registered tag; `und` and `mul` say nothing about a prompt, so they are refused too.
    """
    try:
        tag = langcodes.standardize_tag(text.strip())
    except LanguageTagError as error:
        raise ValueError(f"{text!r} is not a language tag; enter one such as ru or en") from error
    if not langcodes.tag_is_valid(tag) or base_of(tag) in {"und", "mul", "zxx", "mis"}:
        raise ValueError(f"{text!r} names no language; enter a tag such as ru or en")
    return tag


def base_of(tag: str) -> str:
    """The primary language subtag: "pt-BR" -> "pt"."""
    return tag.split("-", 1)[0].lower()


Language = Annotated[str, AfterValidator(standard_tag)]
