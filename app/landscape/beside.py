"""Which of the runs with a drafter stand beside its claims: one of each language and kind of load, and not merely the last that somebody happened to
submit."""

from collections.abc import Iterable

from app.domain.estimate import Cell, Figure
from app.domain.language import base_of
from app.domain.spec import Regime
from app.languages.schemas import Measured

SINGLE: Regime = "single"


def beside(measured: Iterable[Measured]) -> list[Measured]:
    """Of each drafter in each language on each engine and device, at one request at a time, at several at once and at open loads each, the run that
    has both speed-up and acceptance, else one of them; among those the one over the most prompts; of equals the newest. A short or disturbed run
    never takes the place of a whole one. Those at one request at a time come first, then the newest."""
    best: dict[tuple[str | None, ...], Measured] = {}
    for one in measured:
        kind = base_of(one.language), one.engine, one.drafter.name, one.device, one.load.regime
        if kind not in best or _rank(one) > _rank(best[kind]):
            best[kind] = one
    return sorted(best.values(), key=lambda one: (one.load.regime != SINGLE, -one.run))


def representative(measured: Iterable[Measured]) -> list[Measured]:
    """Those of `beside` at one request at a time: where a system has room for one mark a language, no run under load stands for it."""
    return [one for one in beside(measured) if one.load.regime == SINGLE]


def _rank(one: Measured) -> tuple[int, int, int]:
    figures = [cell for cell in (one.speedup, one.acceptance) if _has_point(cell)]
    return len(figures), _prompts(one), one.run


def _has_point(cell: Cell | None) -> bool:
    return isinstance(cell, Figure) and cell.pooled.point is not None


def _prompts(one: Measured) -> int:
    """That were asked, whether or not each was drafted for. Under load a speed-up counts pairs of trials, acceptance always prompts."""
    if not isinstance(one.acceptance, Figure):
        return 0
    return one.acceptance.pooled.of or one.acceptance.pooled.n
