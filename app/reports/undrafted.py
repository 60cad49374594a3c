"""Runs in which the drafter proposed nothing: their speed is that of asking for drafts, and a reader of the answer alone has to be told."""

from collections.abc import Sequence

from app.domain.estimate import Absent, Cell
from app.domain.sentence import Sentence, plain
from app.metrics.counting import NO_DRAFT
from app.reports.report import CHAINS


def undrafted(shown: Sequence[Cell], *, refused: bool) -> tuple[Sentence, ...]:
    """The note of a run whose acceptance over all prompts is absent because nothing was drafted: a profile alone may go without. A refused one has no
    speed-up to speak of."""
    if refused or not any(isinstance(cell, Absent) and cell.id == CHAINS and not cell.part and cell.reason == NO_DRAFT for cell in shown):
        return ()
    return (
        plain(
            "No draft was made: each step of the speculative arm gave one token, as plain decoding does. The speed-up says what asking for drafts "
            "costs, and nothing of their worth."
        ),
    )
