"""A value of a file together with its place in it, so that whatever is wrong with it is said with the place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from app.domain.outside.untrusted import LARGEST, LONGEST_WORD, NotUnderstood, quoted
from app.domain.sentence import Sentence, plain
from app.imports.formats.base import Document, NotImported

LONGEST_SETTING = 32

T = TypeVar("T")


@dataclass(frozen=True)
class Node:
    value: object
    path: tuple[str | int, ...] = ()
    line: int | None = None

    def wrong(self, sentence: Sentence) -> NoReturn:
        raise NotImported(sentence, line=self.line, field=self.pointer or None)

    @property
    def pointer(self) -> str:
        """RFC 6901, of names that may be shown."""
        return "".join("/" + quoted(str(part)).replace("~", "~0").replace("/", "~1") for part in self.path[-8:])

    @property
    def fields(self) -> Mapping[str, object]:
        if not isinstance(self.value, dict):
            self.wrong(plain("This is to be a JSON object."))
        return self.value

    def at(self, name: str) -> Node | None:
        """The field; None where it is absent or null. Raises NotImported where this is no object."""
        value = self.fields.get(name)
        return None if value is None else Node(value, (*self.path, name), self.line)

    def within(self, *names: str) -> Node | None:
        """The field of a field."""
        found: Node | None = self
        for name in names:
            found = found and found.at(name)
        return found

    def need(self, name: str) -> Node:
        found = self.at(name)
        if found is None:
            self.wrong(plain("The field %(name)s is missing.", name=name))
        return found

    def entries(self) -> list[Node]:
        if not isinstance(self.value, list):
            self.wrong(plain("This is to be a JSON list."))
        return [Node(value, (*self.path, place), self.line) for place, value in enumerate(self.value)]

    def as_count(self) -> int:
        """A whole number from 0; one that a tool wrote as 3.0 is one too."""
        value = self.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
            self.wrong(plain("This is to be a whole number from 0 to %(most)s.", most=str(LARGEST)))
        return value

    def as_number(self) -> float:
        value = self.value
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= LARGEST or not math.isfinite(value):
            self.wrong(plain("This is to be a finite number."))
        return float(value)

    def as_share(self) -> float:
        value = self.as_number()
        if not 0 <= value <= 1:
            self.wrong(plain("This is to be a number from 0 to 1."))
        return value

    def as_text(self) -> str:
        """A name: one line that can be stored."""
        value = self.value
        if not isinstance(value, str) or len(value) > LONGEST_WORD or not value.isprintable():
            self.wrong(plain("This is to be a text of at most %(most)s printable characters.", most=LONGEST_WORD))
        return value

    def as_name(self) -> str:
        """What a tool calls something: a text, or a number."""
        return str(self.as_count()) if isinstance(self.value, int) else self.as_text()

    def as_written(self) -> str:
        """A setting in the file's own words: a number as it stands there, or a word."""
        if isinstance(self.value, str) and len(self.value) <= LONGEST_SETTING:
            return self.as_text()
        return f"{number:.0f}" if (number := self.as_number()).is_integer() else repr(number)

    def count(self, name: str) -> int | None:
        found = self.at(name)
        return None if found is None else found.as_count()

    def number(self, name: str) -> float | None:
        found = self.at(name)
        return None if found is None else found.as_number()

    def text(self, name: str) -> str | None:
        found = self.at(name)
        return None if found is None else found.as_text() or None

    def understood(self, read: Callable[[Mapping[str, object]], T]) -> T:
        """What `read` makes of this object; what it does not understand is wrong at this place."""
        fields = self.fields
        try:
            return read(fields)
        except NotUnderstood as error:
            self.wrong(error.sentence)


def answers_of(node: Node) -> Iterator[str]:
    """The texts of an answer in OpenAI's shape; whatever has another shape is no text, since no count hangs on it."""
    choices = node.fields.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        message = choice.get("message") if isinstance(choice, dict) else None
        text = message.get("content") if isinstance(message, dict) else choice.get("text") if isinstance(choice, dict) else None
        if isinstance(text, str):
            yield text


def top(document: Document) -> Node:
    return Node(document.value)


def bodies(document: Document) -> list[Node]:
    """The entries of a list, the lines of JSON Lines, or the one object that a file is. Raises NotImported where there is none, or where one is no
    object."""
    if document.lines is not None and isinstance(document.value, list):
        found = [Node(value, (), line) for line, value in zip(document.lines, document.value, strict=True)]
    elif isinstance(document.value, list):
        found = top(document).entries()
    else:
        found = [top(document)]
    for each in found:
        _ = each.fields
    if not found:
        top(document).wrong(plain("There is no entry in this file."))
    return found


def first_object(document: Document) -> Mapping[str, object]:
    """The first object that a file holds, to look at; empty where it has none."""
    value = document.value
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, dict) else {}
