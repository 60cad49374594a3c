"""C15: is the output unchanged? A mark for each request: at the end of its answer where that equals plain's, else where it parts from plain's."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.reports.figures.base import Plot, Table, Trace, colour, draw, mark, row_axis, row_height, safe, scatter, symbol, zero_axis
from app.reports.format import counted, decimal
from app.reports.report import AnswerRow, Losslessness, Report
from app.reports.sameness import equal_answers, judgements, why_not_compared
from app.reports.shown import Shown
from app.reports.translate import gettext
from app.reports.words import mark as word

_WORDS = {"equal": word("equal to plain"), "tie": word("tie"), "violation": word("violation"), "not judged": word("not judged")}
_REACH = 0.32
Lane = tuple[Losslessness, str, Sequence[AnswerRow]]


def build(report: Report, locale: str) -> Plot:
    """Two rows a precision that was compared: the answers that part from plain's above those that equal them."""
    question = gettext("Is the output unchanged?", locale)
    caption = gettext("A mark for each request, by output token. Filled: its answer equals plain's, at the last token.", locale)
    caption += " " + gettext("At the first token that differs: hollow is a tie of two tokens by the target's logits, × a violation.", locale)
    if any(row.judgement == "not judged" for found in report.losslessness for row in found.answers):
        caption += " " + gettext("◇ was not judged.", locale)
    nowhere = sum(row.times for found in report.losslessness for row in found.answers if _place(row) is None)
    if nowhere:
        caption += " " + gettext("Not drawn, since only digests of the answers are kept: %(requests)s.", locale) % {
            "requests": counted(nowhere, "requests", locale)
        }
    table, finding = _table(report, locale), "; ".join(_finding(found, locale) for found in report.losslessness)
    lanes = _lanes(report)
    if not lanes:
        why = finding or why_not_compared(drawn=report.spec.sampling.temperature > 0, locale=locale)
        return Plot("sameness", question, caption, finding, table, empty=why)
    return Plot("sameness", question, caption, finding, table, _figure(report, lanes, locale), height=row_height(len(lanes)) + 24)


def _place(row: AnswerRow) -> int | None:
    return row.tokens if row.judgement == "equal" else row.position


def _lanes(report: Report) -> list[Lane]:
    """(losslessness, name, the rows that can be drawn), from top to bottom."""
    found: list[Lane] = []
    for each in report.losslessness:
        drawn = [row for row in each.answers if _place(row) is not None]
        apart, equal = [row for row in drawn if row.judgement != "equal"], [row for row in drawn if row.judgement == "equal"]
        found += [(each, name, rows) for name, rows in ((word("parts"), apart), (word("equal"), equal)) if rows]
    return found


def _finding(found: Losslessness, locale: str) -> str:
    said = equal_answers(found, locale)
    return said if found.equal == found.n else f"{said}, {judgements(found, locale)}"


def _table(report: Report, locale: str) -> Table:
    columns = (word("Prompt"), word("Precision"), word("Requests"), word("Output tokens"), word("Against plain"), word("From token on"),
               word("Plain's token there"), word("Speculative token there"))  # fmt: skip
    rows = [_row(found, row, locale) for found in report.losslessness for row in found.answers]
    return Table(tuple(gettext(text, locale) for text in columns), tuple(rows))


def _row(found: Losslessness, row: AnswerRow, locale: str) -> tuple[str | Shown, ...]:
    equal = row.judgement == "equal"
    no_place = word("nowhere") if equal else word("not known: only digests are kept")
    no_token = word("the same") if equal else word("not told")
    ids = (row.plain_token, row.speculative_token)
    # An answer that ends where the other goes on has no token there.
    ended = not equal and row.position is not None and any(token is not None for token in ids)
    absent = Shown("absent", why=gettext(word("the answer ends here") if ended else no_token, locale))
    return (
        row.prompt,
        found.dtype,
        decimal(row.times, 0, locale),
        decimal(row.tokens, 0, locale),
        gettext(_WORDS[row.judgement], locale),
        Shown("absent", why=gettext(no_place, locale)) if row.position is None else decimal(row.position, 0, locale),
        *(absent if token is None else str(token) for token in ids),
    )


def _figure(report: Report, lanes: Sequence[Lane], locale: str) -> dict[str, Any]:
    traces = [_trace(report, found, rows, y, locale) for y, (found, _, rows) in enumerate(lanes)]
    names = [f"{found.dtype} · {gettext(name, locale)} {decimal(_requests(found, name), 0, locale)}" for found, name, _ in lanes]
    longest = max(place for _, _, rows in lanes for row in rows if (place := _place(row)) is not None)
    axis = zero_axis("count", longest * 1.06 or 1.0, locale) | {"title": {"text": safe(gettext("output token", locale))}}
    layout = {"xaxis": axis, "yaxis": row_axis(names), "height": row_height(len(lanes)) + 24}
    return draw(traces, layout, locale)


def _requests(found: Losslessness, lane: str) -> int:
    """Of all of them, those that cannot be drawn among them."""
    return found.equal if lane == "equal" else found.n - found.equal


def _trace(report: Report, found: Losslessness, rows: Sequence[AnswerRow], y: int, locale: str) -> Trace:
    language = report.spec.language
    shapes: Mapping[str, str] = {
        "equal": symbol(language), "tie": symbol(language, filled=False), "violation": "x", "not judged": "diamond-open",
    }  # fmt: skip
    at: dict[int, list[AnswerRow]] = {}
    for row in rows:
        # The passes over a prompt that came to the same answer are as many requests, and the name of the row counts requests.
        at.setdefault(_place(row) or 0, []).extend([row] * row.times)
    spots = [(x, y + _apart(i, len(here)), row) for x, here in at.items() for i, row in enumerate(here)]
    sizes = [_size(len(here)) for here in at.values() for _ in here]
    look = mark(colour(language), symbol(language)) | {"symbol": [shapes[row.judgement] for _, _, row in spots], "size": sizes}
    # Marks of several sizes are half transparent unless told otherwise.
    look |= {"line": {"color": colour(language), "width": 1.5}, "opacity": 1}
    hover = [safe(_hover(found, row, locale)) for _, _, row in spots]
    return scatter(x=[x for x, _, _ in spots], y=[y for _, y, _ in spots], mode="markers", marker=look, hovertext=hover)


def _apart(i: int, of: int) -> float:
    """Marks of one place beside each other, within the row."""
    return 0.0 if of == 1 else _REACH * (2 * i / (of - 1) - 1)


def _size(of: int) -> float:
    """Small enough that marks of one place are told apart, as far as there is room."""
    return min(9.0, max(2.0, 24 / of))


def _hover(found: Losslessness, row: AnswerRow, locale: str) -> str:
    said = f"{row.prompt}, {found.dtype}, {counted(row.times, 'requests', locale)}: {gettext(_WORDS[row.judgement], locale)}"
    if row.position is None:
        return said
    ids = [str(token) for token in (row.plain_token, row.speculative_token) if token is not None]
    place = gettext("from token %(position)s on", locale) % {"position": decimal(row.position, 0, locale)}
    return f"{said}, {place}" + (f", {' / '.join(ids)}" if len(ids) == 2 else "")
