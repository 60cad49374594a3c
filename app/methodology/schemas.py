"""What each number means, as programs read it."""

from typing import Literal

from app.domain.outside.versions import Shape
from app.domain.value import Value


class Definition(Value):
    """A figure: what it is called, its unit, which direction is better, its formula, and where the same is printed under another name."""

    id: str
    name: str
    unit: str
    better: Literal["higher", "lower"] | None
    formula: str
    also_printed_as: str | None


class Flagged(Value):
    """`flagged` of `n` were refused by the gate, a share with its 95 % interval. Where `wanted` is none each of them is a mistake; where it is all,
    each that is missing is one; where it is unknown nobody can say."""

    gate: str
    wanted: Literal["none", "all", "unknown"]
    flagged: int
    n: int
    low: float
    high: float


class OfTexts(Flagged):
    """A gate over answers, on texts that people wrote and on loops made from them."""

    texts: str
    language: str
    characters: str
    profile: str | None


class OfMachines(Flagged):
    """A gate over the machine, by simulation of the `case` with its `values`."""

    case: str
    values: dict[str, float]


class Limits(Value):
    """What the gates go by. `tolerated` is the share of a figure's requests that may fail a gate; `fair_baseline` is by how much plain decoding may
    differ from the library's own."""

    tolerated: float
    fair_baseline: float
    repeat_characters: int
    repeated_share: float
    closing_cycle_share: float
    letters: int


class Told(Value):
    """What a file of one format can tell: fields of counts, of single requests or of all of them together."""

    format: str
    tool: str
    counts: tuple[str, ...]
    of_single_requests: bool


class Methodology(Value):
    """`formats` are files that can be imported, `words` what is understood of engines; `run` there is None where nobody has run them yet."""

    figures: tuple[Definition, ...]
    formats: tuple[Told, ...]
    words: tuple[Shape, ...]
    limits: Limits
    over_texts: tuple[OfTexts, ...]
    over_machines: tuple[OfMachines, ...]
