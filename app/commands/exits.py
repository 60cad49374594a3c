"""With which status commands end: one table for `wait`, `compare` and `gate`. (2 is usage, as everywhere.)"""

from collections.abc import Iterable

from app.gates.rule import Answer, together

STATUS: dict[Answer, int] = {"holds": 0, "does not hold": 1, "could not be measured": 3, "cannot tell": 4}


def status_of(answers: Iterable[Answer]) -> int:
    return STATUS[together(list(answers))]
