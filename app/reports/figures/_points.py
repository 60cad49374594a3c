"""The points of a picture as CSV: full precision, each with the words that a reader of the picture meets at it."""

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.reports.export import Row, rows_csv

COLUMNS = ("what", "x", "x_low", "x_high", "y", "y_low", "y_high")


def points_csv(figure: Mapping[str, Any]) -> str:
    """One row a point, in the order drawn; edges of bands and other traces without words are no points."""
    return rows_csv(COLUMNS, [row for trace in figure["data"] if trace.get("hoverinfo") != "skip" for row in _rows(trace)])


def _rows(trace: Mapping[str, Any]) -> Iterator[Row]:
    xs, ys = trace.get("x") or (), trace.get("y") or ()
    words = trace.get("hovertext") or [""] * len(xs)
    for i, (x, y) in enumerate(zip(xs, ys, strict=False)):
        what = html.unescape(str(words[i])).replace("<br>", ", ") if isinstance(words, Sequence) and not isinstance(words, str) else str(words)
        row: Row = {"what": what, "x": x, "y": y}
        yield row | _ends("x", x, trace.get("error_x"), i) | _ends("y", y, trace.get("error_y"), i)


def _ends(axis: str, at: Any, bars: Mapping[str, Any] | None, i: int) -> Row:
    """Nothing where there is no interval, which a bar of no length stands for."""
    up, down = (bars["array"][i], bars["arrayminus"][i]) if bars else (0, 0)
    return {f"{axis}_low": at - down, f"{axis}_high": at + up} if up or down else {}
