"""Identities between figures that an engine prints side by side."""

from collections.abc import Sequence

from app.domain.sentence import Quantity, Sentence, plain

# Shares by position are printed with three or four digits.
PRINTED = 0.01


def positions_agree(all_rounds: Sequence[float], *, verified: int, rounds: int) -> Sentence | None:
    """None when Σ acceptance_at_all_rounds[i] = V/R, as it must; else the identity that is broken and the quotient of its sides."""
    total, expected = sum(all_rounds), verified / rounds
    if abs(total - expected) <= PRINTED * max(expected, 1.0):
        return None
    return plain(
        "The shares by position add up to %(total)s, V/R is %(expected)s: they must be equal, and are in the ratio %(quotient)s.",
        total=Quantity(kind="number", value=total),
        expected=Quantity(kind="number", value=expected),
        quotient=Quantity(kind="number", value=total / expected if expected else 0.0),
    )
