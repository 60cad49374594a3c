"""Figures of models whose layers have experts."""

from dataclasses import replace
from typing import Literal

from app.domain.estimate import Unit
from app.domain.sentence import plain
from app.metrics.base import Better, Metric, Reading
from app.metrics.counting import quotient_metric
from app.metrics.frame import Frames
from app.metrics.select import counted
from app.metrics.sums import Terms, missing

UNCOUNTED = plain("Experts were not counted: the target has none, or its drafter does not ask for them.")


def experts_metric(
    *, id: str, order: int, unit: Unit, scale: Literal["share", "ratio"], formula: str, terms: Terms, better: Better | None = "higher"
) -> Metric:
    """A quotient of counts of experts. Where nobody counted any, that is the reason."""
    needs = ("experts_read", "experts_chosen", "rounds")
    metric = quotient_metric(id=id, order=order, unit=unit, scale=scale, formula=formula, terms=terms, needs=needs, better=better)

    def compute(frames: Frames) -> list[Reading]:
        rows = counted(frames)
        return [missing(UNCOUNTED)] if not rows.empty and rows["experts_read"].isna().all() else metric.compute(frames)

    return replace(metric, compute=compute)
