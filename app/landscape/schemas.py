"""Claims beside measurements: two lists that stand next to each other and are never added up."""

from typing import Literal

from app.claims.schemas import System
from app.domain.value import Value
from app.languages.schemas import Measured

# Where a claimed value lies against the interval of one run's own figure.
Stands = Literal["inside", "above", "below"]


class Check(Value):
    """One claim against one run's figure of the same definition, language and tokenizer."""

    claim: int
    run: int
    stands: Stands


class Row(Value):
    """A system: what is claimed of it, and what was measured here with its drafter, of engines what was measured on one of them. `checks` is empty
    where nothing can be set against a claim."""

    system: System
    measured: tuple[Measured, ...]
    checks: tuple[Check, ...]


class Landscape(Value):
    rows: tuple[Row, ...]
