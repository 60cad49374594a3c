"""The Russian words fit the English ones."""

import re

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from app.errors import AppError
from app.reports.translate import CATALOGUES
from app.reports.words import ELSEWHERE
from app.web import pages  # noqa: F401 - loads every room, and with it every error

with (CATALOGUES / "ru" / "LC_MESSAGES" / "messages.po").open("rb") as source:
    CATALOGUE = read_po(source, locale="ru")
MESSAGES = [message for message in CATALOGUE if message.id]


def placeholders(text: str) -> set[str]:
    # Russian needs "на русском" where English has one form, so `language_in` stands for `language`.
    return {name.removesuffix("_in") for name in re.findall(r"%\((\w+)\)s", text)}


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: str(message.id)[:40])
def test_every_translation_can_be_filled(message: Message) -> None:
    """Catches a lost or invented placeholder, a lone percent sign, a missing plural form, an unfinished entry."""
    english = [message.id] if isinstance(message.id, str) else list(message.id)
    russian = [message.string] if isinstance(message.string, str) else list(message.string)
    assert all(russian)
    assert not message.fuzzy
    assert len(russian) == (1 if isinstance(message.id, str) else CATALOGUE.num_plurals == 3 and 3)
    named = placeholders(english[-1])
    for text in russian:
        assert placeholders(text) == named
        if named:
            text % dict.fromkeys([*named, *(f"{name}_in" for name in named)], "x")


def test_titles_of_errors_are_those_of_the_errors() -> None:
    """Catches a translation of a title that no error has any more."""

    def family(kind: type[AppError]) -> set[str]:
        return {(kind.__doc__ or "").strip()}.union(*(family(child) for child in kind.__subclasses__()))

    assert set(ELSEWHERE) <= family(AppError)
