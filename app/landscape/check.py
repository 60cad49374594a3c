"""A claim against a measurement: only where both say the same definition, language and tokenizer, and only against that run's own interval."""

from collections.abc import Iterable

from app.claims.schemas import Claim
from app.domain.estimate import Figure
from app.domain.language import base_of
from app.landscape.schemas import Check, Stands
from app.languages.schemas import Measured


def checks(claims: Iterable[Claim], measured: Iterable[Measured]) -> list[Check]:
    runs = list(measured)
    found = ((claim, one, _stands(claim, one)) for claim in claims if not claim.refused for one in runs)
    return [Check(claim=claim.id, run=one.run, stands=stands) for claim, one, stands in found if stands is not None]


def _stands(claim: Claim, one: Measured) -> Stands | None:
    """None where the two cannot be set against each other."""
    figure = next((cell for cell in (one.acceptance, one.speedup) if isinstance(cell, Figure) and cell.id == claim.definition), None)
    if figure is None or figure.unit != claim.unit or figure.pooled.low is None or figure.pooled.high is None or not _same_words(claim, one):
        return None
    if (claim.upto or claim.value) < figure.pooled.low:
        return "below"
    return "above" if claim.value > figure.pooled.high else "inside"


def _same_words(claim: Claim, one: Measured) -> bool:
    if claim.language is None or claim.tokenizer is None or one.tokenizer is None:
        return False
    named = claim.tokenizer.lower()
    ours = one.tokenizer
    same = named == ours.name.lower() or (len(named) >= 6 and ours.fingerprint.startswith(named)) or named == ours.short.lower()
    return same and base_of(claim.language) == base_of(one.language)
