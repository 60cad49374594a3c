"""The two plotly templates: only ink, grid and paper differ, data colours pass 3:1 on both pages."""

from typing import Any

from app.reports.figures.base import GREY, MARKS

_INK = {"light": ("#3d4653", "#e3e7ec", "#76808d", "#ffffff", "#ffffff"), "dark": ("#c3cbd5", "#2c343e", "#7d8895", "#1c2229", "#14181d")}


def template(theme: str) -> dict[str, Any]:
    """`light` or `dark`."""
    ink, grid, line, raised, paper = _INK[theme]
    font = {"family": "Inter, system-ui, sans-serif", "size": 13, "color": ink}
    axis = {
        "gridcolor": grid, "linecolor": line, "tickcolor": line, "ticks": "outside", "ticklen": 4, "showline": True, "zeroline": False,
        "automargin": True, "fixedrange": True, "tickangle": 0, "ticklabeloverflow": "allow", "title": {"standoff": 8, "font": {"size": 13}},
        "tickfont": {"size": 13},
    }  # fmt: skip
    layout = {
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "font": font, "colorway": [*MARKS.values(), GREY],
        "xaxis": axis, "yaxis": axis | {"showline": False, "ticks": ""}, "showlegend": False, "dragmode": False, "hovermode": "closest",
        "hoverlabel": {"bgcolor": raised, "bordercolor": line, "font": font, "align": "left"},
        "margin": {"l": 8, "r": 28, "t": 8, "b": 8},
        # Text is not struck through by the lines behind it.
        "annotationdefaults": {"font": {"size": 13, "color": ink}, "showarrow": False, "bgcolor": paper, "borderpad": 1},
    }  # fmt: skip
    return {"layout": layout}


TEMPLATES = {theme: template(theme) for theme in _INK}
