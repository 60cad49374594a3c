"""C3: is acceptance above the bar? What was kept of the drafts beside what their cost asks for; nothing is assumed about how it is spread."""

from typing import Any

from app.domain.estimate import Estimate, Figure
from app.reports.figures.base import GREY, Plot, Table, Trace, colour, draw, interval, label, mark, safe, scatter, share_axis, symbol
from app.reports.format import decimal, number
from app.reports.report import Bar, Economics, Report
from app.reports.shown import Shown, find, plain_number, show_estimate
from app.reports.translate import gettext
from app.reports.words import mark as word

BAR, HAD = "break_even_acceptance", "acceptance_rate"
_HEIGHT = 300
_DOT = "circle"
# Two labels of one line each need so much of the scale between them.
_CLOSE = 0.09


def build(report: Report, locale: str) -> Plot:
    """One run, since costs are those of its load and machine."""
    question = gettext("Is acceptance above the bar?", locale)
    seen, accepted = report.economics, report.find(HAD)
    if seen is None or not isinstance(accepted, Figure):
        return Plot("economics", question, _caption(None, locale), "", Table((), ()), empty=_absent(report, locale))
    finding = _finding(report, seen, locale)
    caption = " ".join(part for part in (_caption(seen, locale), finding, _contradiction(report, seen, locale)) if part)
    figure = _figure(report, seen, accepted.pooled, locale)
    return Plot("economics", question, caption, finding, _table(report, seen, locale), figure, height=_HEIGHT)


def _caption(seen: Economics | None, locale: str) -> str:
    said = gettext("Needed: (cost of draft + cost of verification − 1) ÷ drafts, in plain steps.", locale)
    if seen is None:
        return said
    load = gettext("Sequences in the batch, as in most rounds: %(sequences)s.", locale) % {"sequences": decimal(seen.sequences, 0, locale)}
    return f"{said} {load} " + gettext("Costs are from one profiled trial, so the bar has no interval; acceptance has one of 95 %.", locale)


def _absent(report: Report, locale: str) -> str:
    """What the two figures say of themselves; a report that is kept from before has both and nothing to draw."""
    reasons = dict.fromkeys(found.why for id in (HAD, BAR) if not (found := find(report, id, locale)).value)
    return " ".join(reasons) or gettext("This report was kept without the costs by number of drafts.", locale)


def _side(gap: Estimate) -> int:
    """−1 where all of the interval lies below the bar, 1 above, 0 where the bar lies inside or nothing is known."""
    return 0 if gap.low is None or gap.high is None else (gap.low > 0) - (gap.high < 0)


def _finding(report: Report, seen: Economics, locale: str) -> str:
    needed = seen.mean.needed
    if needed > 1:
        return find(report, BAR, locale).why
    if needed <= 0:
        return gettext("Any acceptance would do: a round costs no more than a plain step.", locale)
    gap = show_estimate("points", seen.gap, locale)
    words = {
        1: word("Acceptance is above the bar: %(gap)s."),
        -1: word("Acceptance is below the bar: %(gap)s."),
        0: word("The bar lies within the interval of acceptance: %(gap)s from it."),
    }
    bare = word("Acceptance is %(gap)s from the bar; there is no interval to tell on which side.")
    said = bare if seen.gap.low is None else words[_side(seen.gap)]
    return gettext(said, locale) % {"gap": f"{gap.value} {gap.interval}".strip()}


def _contradiction(report: Report, seen: Economics, locale: str) -> str:
    """Costs and clock that say the opposite: what the costs leave out is named."""
    side = 1 if seen.mean.needed <= 0 else -1 if seen.mean.needed > 1 else _side(seen.gap)
    against = {1: "does not pay", -1: "pays"}.get(side)
    if report.verdict.outcome != against:
        return ""
    words = word(
        "The clock says otherwise: costs foretell %(foretold)s, measured is %(measured)s. Costs hold draft and verification alone, "
        "not prefill and what runs between the forwards."
    )
    shown = [find(report, id, locale) for id in ("predicted_speedup", report.headline)]
    foretold, measured = (one.value or one.why for one in shown)
    return gettext(words, locale) % {"foretold": foretold, "measured": measured}


def _table(report: Report, seen: Economics, locale: str) -> Table:
    columns = (word("Drafts per round"), word("Acceptance needed"), word("Acceptance had"), word("Cost of draft"), word("Cost of verification"))
    whole = Shown("absent", why=gettext("counted over all rounds together", locale))
    mean = (gettext("%(drafts)s, the mean", locale) % {"drafts": _drafts(seen.mean, locale)}, find(report, BAR, locale), find(report, HAD, locale))
    rows: list[tuple[str | Shown, ...]] = [(*mean, *_costs(seen.mean, locale))]
    rows += [(_drafts(bar, locale), plain_number("share", bar.needed, locale), whole, *_costs(bar, locale)) for bar in seen.bars]
    return Table(tuple(gettext(text, locale) for text in columns), tuple(rows))


def _drafts(bar: Bar, locale: str) -> str:
    return decimal(bar.drafts, 0 if float(bar.drafts).is_integer() else 2, locale)


def _costs(bar: Bar, locale: str) -> tuple[str, str]:
    return plain_number("number", bar.draft_cost, locale), plain_number("number", bar.verify_cost, locale)


def _figure(report: Report, seen: Economics, accepted: Estimate, locale: str) -> dict[str, Any]:
    mean, last = seen.mean, max([seen.mean.drafts, *(bar.drafts for bar in seen.bars)])
    ticks = list(range(1, max(2, int(last) + 1), max(1, -(-int(last) // 8))))
    end = max(last, 1.5) + 0.5
    axis = {"tickmode": "array", "tickvals": ticks, "ticktext": [decimal(n, 0, locale) for n in ticks], "range": [0.5, end]}
    layout: dict[str, Any] = {
        "xaxis": axis | {"title": {"text": safe(gettext("drafts per round", locale))}},
        "yaxis": share_axis(locale),
        "annotations": _labels(report, seen, accepted, locale, right=mean.drafts <= (0.5 + end) / 2),
        "height": _HEIGHT,
    }
    if 0 <= mean.needed <= 1 and accepted.point is not None:
        line = {"color": GREY, "width": 1.5, "dash": "dot"}
        layout["shapes"] = [
            {"type": "line", "x0": mean.drafts, "x1": mean.drafts, "y0": mean.needed, "y1": accepted.point, "line": line, "layer": "below"}
        ]
    return draw([*_bars(seen, locale), *_measured(report, seen, accepted, locale)], layout, locale)


def _bars(seen: Economics, locale: str) -> list[Trace]:
    """Rounds that were profiled joined by a line, and the bar at n̄; what no acceptance reaches is not drawn."""
    inside = [bar for bar in seen.bars if 0 <= bar.needed <= 1]
    found = []
    if inside:
        look = mark(GREY, _DOT, 6) | {"line": {"color": GREY, "width": 1}}
        x, y, hover = [bar.drafts for bar in inside], [bar.needed for bar in inside], [_hover(bar, locale) for bar in inside]
        found.append(scatter(x=x, y=y, mode="lines+markers", marker=look, line={"color": GREY, "width": 2}, hovertext=hover))
    if 0 <= seen.mean.needed <= 1:
        look = mark(GREY, "line-ew-open", 26) | {"line": {"color": GREY, "width": 4}}
        found.append(scatter(x=[seen.mean.drafts], y=[seen.mean.needed], mode="markers", marker=look, hovertext=[_hover(seen.mean, locale)]))
    return found


def _hover(bar: Bar, locale: str) -> str:
    words = gettext("%(drafts)s drafts: needed %(needed)s; draft %(draft)s, verification %(verify)s plain steps", locale)
    draft, verify = _costs(bar, locale)
    needed = plain_number("share", bar.needed, locale)
    return safe(words % {"drafts": _drafts(bar, locale), "needed": needed, "draft": draft, "verify": verify})


def _measured(report: Report, seen: Economics, accepted: Estimate, locale: str) -> list[Trace]:
    if accepted.point is None:
        return []
    hue, language = colour(report.spec.language), report.spec.language
    bars = interval([(accepted.point, accepted.low, accepted.high)]) | {"color": hue}
    shown = find(report, HAD, locale)
    hover = f"{_drafts(seen.mean, locale)}: {shown.value} {shown.interval}, {shown.n}; {_finding(report, seen, locale)}"
    look = mark(hue, symbol(language, filled=_side(seen.gap) != 0 or not 0 <= seen.mean.needed <= 1))
    return [scatter(x=[seen.mean.drafts], y=[accepted.point], mode="markers", marker=look, error_y=bars, hovertext=[safe(hover)])]


def _labels(report: Report, seen: Economics, accepted: Estimate, locale: str, *, right: bool) -> list[dict[str, Any]]:
    """Both numbers beside their marks; at the edge of the scale what lies beyond it."""
    assert accepted.point is not None
    aside = {"xanchor": "left" if right else "right", "xshift": 18 if right else -18}
    needed, had = seen.mean.needed, accepted.point
    beyond = gettext("no acceptance would suffice", locale) if needed > 1 else gettext("any acceptance would do", locale)
    said = gettext("needed %(value)s", locale) % {"value": number("share", needed, locale=locale).value} if 0 <= needed <= 1 else beyond
    own = gettext("had %(value)s", locale) % {"value": find(report, HAD, locale).value}
    places = sorted([(had, own, {}), (min(max(needed, 0.0), 1.0), said, {"font": {"color": GREY}})], key=lambda place: place[0])
    shifts = [0, 0]
    if places[1][0] - places[0][0] < _CLOSE:
        # Away from the nearer edge, so that neither runs over the axis.
        shifts = [8, 26] if places[1][0] < 0.5 else [-26, -8]
    return [label(safe(text), seen.mean.drafts, y, yshift=shift, **aside, **more) for (y, text, more), shift in zip(places, shifts, strict=True)]
