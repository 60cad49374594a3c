"""What is said to a person, before a language is chosen for it."""

from typing import Literal

from pydantic import Field, field_validator

from app.domain.value import Value

Kind = Literal[
    "ratio", "share", "share_of_nodes", "points", "count", "seconds", "number", "bytes", "tokens", "characters", "layer_passes", "experts",
    "tokens_per_second", "characters_per_second", "words_per_second", "per_second", "requests_per_second", "asked_rate",
]  # fmt: skip


class Quantity(Value):
    """A number inside a sentence; the renderer of a locale decides its digits. `share` is 0..1 and `share_of_nodes` too, of the nodes of
    trees; `points` is a difference of shares.

    `beside` is a number that it is held against: neither it nor an end of its interval is rounded onto that. `asked` marks a number that somebody
    set and nobody measured; it is printed with the digits that it was set with.
    """

    kind: Kind
    value: float
    low: float | None = None
    high: float | None = None
    beside: float | None = None
    asked: bool = False


class Sentence(Value):
    """A msgid with named placeholders (`%(name)s`) and what fills them, so that one text serves page, JSON and export in every language. `said` is
    the English text in full, which answers of the API have; whoever reads one makes it anew."""

    text: str
    values: dict[str, str | int | Quantity] = {}
    said: str | None = Field(default=None, exclude_if=lambda said: said is None)

    @field_validator("said", mode="before")
    @classmethod
    def _made_anew(cls, _: object) -> None:
        return None


def plain(text: str, **values: str | int | Quantity) -> Sentence:
    return Sentence(text=text, values=values)
