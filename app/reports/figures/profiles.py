"""C5: which texts? Acceptance by profile, and for two runs the paired difference with its own interval beside it."""

from collections.abc import Sequence
from typing import Any

from app.domain.estimate import Cell, Figure
from app.reports.figures._difference import points_axis, points_name
from app.reports.figures.base import GREY, Plot, Table, Trace, cells, colour, dot, draw, reference, row_axis, safe, series_name, share_axis, symbol
from app.reports.report import Contrast, Report
from app.reports.shown import Shown, find, missing_series, show, show_contrast
from app.reports.translate import gettext

_GAP = 56


def build(reports: Sequence[Report], locale: str, contrasts: Sequence[Contrast] = ()) -> Plot:
    """Rows sorted by the difference where there is one, else by the first run's value; rows without a number come last."""
    # Chains and trees have no axis in common: what is not of the first run's kind keeps its reason.
    id = reports[0].acceptance
    found = [(series_name(r, reports, locale), r, cells(r, id, "profile")) for r in reports]
    differences = {c.part["profile"]: c for c in contrasts if c.id == id and set(c.part) == {"profile"}}
    names = sorted({p for _, _, by in found for p in by}, key=lambda p: _order(p, found, differences))
    question = gettext("Which texts are accepted?", locale) if len(reports) == 1 else gettext("On which texts do they differ?", locale)
    caption = gettext("Acceptance V/D by text profile, with 95% intervals.", locale)
    if differences:
        caption += " " + gettext("Below: the first minus the second on the same prompts, in percentage points.", locale)
    if len(reports) > 1:
        caption += missing_series((name, find(r, id, locale)) for name, r, _ in found)
    table = _table(found, names, differences, locale)
    drawn = [(name, r, {p: c for p, c in by.items() if isinstance(c, Figure) and c.pooled.point is not None}) for name, r, by in found]
    finding = _finding(found, names, differences, locale)
    if not any(by for _, _, by in drawn):
        reasons = [show(c, r, locale).why for _, r, by in found for c in by.values() if not isinstance(c, Figure)]
        reasons += [show(c, r, locale).why for r in reports if (c := r.find(id)) is not None and not isinstance(c, Figure)]
        return Plot("profiles", question, caption, finding, table, empty=(reasons or [gettext("No profile has a figure.", locale)])[0])
    height, figure, narrow = _figure(drawn, names, differences, locale)
    return Plot("profiles", question, caption, finding, table, figure, narrow, height=height)


def _order(profile: str, found: list[tuple[str, Report, dict[str, Cell]]], differences: dict[str, Contrast]) -> tuple[float, float, str]:
    contrast = differences.get(profile)
    if contrast is not None and contrast.estimate.point is not None:
        return (0, contrast.estimate.point, profile)
    first = next((c for _, _, by in found if isinstance(c := by.get(profile), Figure) and c.pooled.point is not None), None)
    return (2, 0, profile) if first is None else (1, -(first.pooled.point or 0), profile)


def _table(found: list[Any], names: list[str], differences: dict[str, Contrast], locale: str) -> Table:
    columns = [gettext("Profile", locale), *[name for name, _, _ in found]]
    nothing = Shown("absent", why=gettext("not measured in this run", locale))
    unpaired = Shown("absent", why=gettext("no pairs", locale))
    rows: list[tuple[str | Shown, ...]] = []
    for p in names:
        row: list[str | Shown] = [p, *[show(by[p], r, locale) if p in by else nothing for _, r, by in found]]
        if differences:
            row.append(show_contrast(differences[p], locale) if p in differences else unpaired)
        rows.append(tuple(row))
    return Table((*columns, gettext("Difference", locale)) if differences else tuple(columns), tuple(rows))


def _finding(found: list[Any], names: list[str], differences: dict[str, Contrast], locale: str) -> str:
    words = []
    for p in names:
        values = [f"{name} {s.value or s.why}" for name, r, by in found if p in by for s in [show(by[p], r, locale)]]
        if p in differences and (shown := show_contrast(differences[p], locale)).value:
            values.append(gettext("difference", locale) + f" {shown.value} {shown.interval}")
        words.append(f"{p}: " + ", ".join(values))
    return "; ".join(words)


def _rows(drawn: list[Any], names: list[str]) -> dict[tuple[str, int], tuple[float, str]]:
    """(profile, run) → (row, label). Languages share a row, told apart by colour and shape; runs of one language have a row each."""
    languages = [report.spec.language for _, report, _ in drawn]
    if len(set(languages)) == len(languages):
        spread = 0.14 if len(drawn) > 1 else 0.0
        return {(p, r.run): (y + spread * (2 * i - len(drawn) + 1), p) for y, p in enumerate(names) for i, (_, r, _) in enumerate(drawn)}
    each = [(p, name, r) for p in names for name, r, _ in drawn]
    return {(p, r.run): (float(y), f"{p} · {name}") for y, (p, name, r) in enumerate(each)}


def _figure(drawn: list[Any], names: list[str], differences: dict[str, Contrast], locale: str) -> tuple[int, dict[str, Any], dict[str, Any]]:
    """(height, figure, narrow overrides)."""
    rows = _rows(drawn, names)
    labels = list(dict.fromkeys(text for _, text in rows.values()))
    top, bottom = 34 * len(labels), 30 * len(names) if differences else 0
    height = 60 + top + (_GAP + bottom if differences else 0)
    traces: list[Trace] = []
    for name, report, by in drawn:
        for p, figure in by.items():
            shown = show(figure, report, locale)
            e, language = figure.pooled, report.spec.language
            hover = safe(f"{p}, {name}: {shown.value} {shown.interval or shown.why}, {shown.n}")
            mark = {"colour": colour(language), "symbol": symbol(language, filled=e.low is not None)}
            traces.append(dot(e.point, rows[p, report.run][0], e.low, e.high, hover=hover, **mark))
    layout: dict[str, Any] = {"xaxis": share_axis(locale), "yaxis": row_axis(labels), "height": height}
    if differences:
        area = top + bottom + _GAP
        layout |= _difference_panel(traces, names, differences, locale, bottom / area)
        layout["yaxis"] = row_axis(labels) | {"domain": [1 - top / area, 1]}
    return height, draw(traces, layout, locale), {"xaxis": share_axis(locale, ticks=(0, 0.5, 1))}


def _difference_panel(traces: list[Trace], names: list[str], differences: dict[str, Contrast], locale: str, share: float) -> dict[str, Any]:
    """The paired difference under the dots: two overlapping intervals do not say that there is no difference."""
    for p, contrast in differences.items():
        e, shown = contrast.estimate, show_contrast(contrast, locale)
        if e.point is None or p not in names:
            continue
        hover = safe(f"{p}: {shown.value} {shown.interval or shown.why}, {shown.n}")
        shape = "diamond" if e.low is not None else "diamond-open"
        trace = dot(e.point, names.index(p), e.low, e.high, colour=GREY, symbol=shape, hover=hover, xaxis="x2", yaxis="y2")
        traces.append(trace)
    axis = points_axis((contrast.estimate for contrast in differences.values()), locale)
    title = {"text": points_name(locale)}
    return {
        "xaxis": share_axis(locale) | {"anchor": "y"},
        "xaxis2": axis | {"anchor": "y2", "title": title},
        "yaxis2": row_axis(names) | {"domain": [0, share], "anchor": "x2"},
        "shapes": [reference(0.0, x="x2", y="y2 domain")],
    }
