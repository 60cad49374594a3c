"""The paired difference as a panel of its own below the values: two overlapping intervals do not say that there is no difference."""

from collections.abc import Iterable
from typing import Any

from app.domain.estimate import Estimate
from app.reports.figures.base import GREY, Trace, interval, mark, safe, scatter
from app.reports.format import decimal, number
from app.reports.report import Contrast
from app.reports.shown import show_contrast


def points_axis(estimates: Iterable[Estimate], locale: str) -> dict[str, Any]:
    """Percentage points around 0, as far down as up."""
    seen = [abs(v) for e in estimates for v in (e.point, e.low, e.high) if v is not None]
    reach = 1.15 * max([0.05, *seen])
    step = next(s for s in (0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0) if reach / s <= 3)
    ticks = [k * step for k in range(-3, 4) if abs(k * step) <= reach]
    return {"tickmode": "array", "tickvals": ticks, "ticktext": [decimal(t * 100, 0, locale) for t in ticks], "range": [-reach, reach]}


def points_name(locale: str) -> str:
    """`pp`, as numbers carry it."""
    return number("points", 0, locale=locale).value.split("\u00a0", 1)[1]


def upright(contrasts: dict[int, Contrast], locale: str) -> Trace:
    """Differences over places on the axis of the values, with upright intervals; hollow where there is none."""
    kept = {x: c for x, c in contrasts.items() if c.estimate.point is not None}
    values = [c.estimate.point or 0.0 for c in kept.values()]
    estimates = [c.estimate for c in kept.values()]
    shown = [show_contrast(c, locale) for c in kept.values()]
    return scatter(
        x=list(kept), y=values, mode="markers", yaxis="y2",
        error_y=interval((v, e.low, e.high) for v, e in zip(values, estimates, strict=True)) | {"color": GREY},
        marker=mark(GREY, "diamond") | {"symbol": ["diamond" if e.low is not None else "diamond-open" for e in estimates]},
        hovertext=[safe(f"{x}: {s.value} {s.interval or s.why}, {s.n}") for x, s in zip(kept, shown, strict=True)],
    )  # fmt: skip
