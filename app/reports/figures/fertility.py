"""C6: what does a token carry? Tokens per word and per character of the prompts: what a language costs before any drafter."""

from collections.abc import Sequence

from app.domain.estimate import Figure
from app.reports.figures._panels import Panel, Row, figure, height
from app.reports.figures.base import Plot, Table, colour, series_name, symbol
from app.reports.report import Contrast, Report
from app.reports.shown import Shown, find, show, show_contrast
from app.reports.translate import gettext
from app.reports.words import mark

ID, ROUND = "fertility", "chars_per_round"
_KINDS = (
    ("prompts", "word", mark("tokens per word, prompts")),
    ("prompts", "character", mark("tokens per character, prompts")),
    ("outputs", "word", mark("tokens per word, answers")),
    ("outputs", "character", mark("tokens per character, answers")),
)


def build(reports: Sequence[Report], locale: str, contrasts: Sequence[Contrast] = ()) -> Plot:
    """Prompts are drawn, answers stand in the table: a looping answer has the fertility of its loop."""
    table = _table(reports, contrasts, locale)
    panels = [panel for text, per, title in _KINDS if text == "prompts" and (panel := _panel(reports, text, per, title, locale)).rows]
    if len(reports) > 1 and (carried := _carried(reports, locale)).rows:
        panels.append(carried)
    question = gettext("What does a token carry?", locale)
    caption = gettext("Tokens per word and per character of the prompts. More tokens for the same text means more steps.", locale)
    finding = "; ".join(f"{row[0]}: " + ", ".join(c.value or c.why for c in row[1:] if isinstance(c, Shown)) for row in table.rows)
    if not panels:
        reasons = [show(cell, r, locale).why for r in reports if (cell := r.find(ID)) is not None and not isinstance(cell, Figure)]
        nothing = gettext("The words of the prompts were not counted.", locale)
        return Plot("fertility", question, caption, finding, table, empty=(reasons or [nothing])[0])
    return Plot("fertility", question, caption, finding, table, *figure(panels, locale), height=height(panels))


def _panel(reports: Sequence[Report], text: str, per: str, title: str, locale: str) -> Panel:
    rows = []
    for r in reports:
        cell = r.find(ID, text=text, per=per)
        if isinstance(cell, Figure) and cell.pooled.point is not None:
            language = r.spec.language
            rows.append(Row(series_name(r, reports, locale), cell.pooled, show(cell, r, locale), colour(language), symbol(language)))
    return Panel(gettext(title, locale), "tokens", rows)


def _carried(reports: Sequence[Report], locale: str) -> Panel:
    """What a whole round brings: beside runs of another language it says whether longer drafts make up for shorter tokens."""
    rows = []
    for r in reports:
        cell = r.find(ROUND)
        if isinstance(cell, Figure) and cell.pooled.point is not None:
            rows.append(Row(series_name(r, reports, locale), cell.pooled, show(cell, r, locale), colour(r.spec.language), symbol(r.spec.language)))
    return Panel(gettext("characters per round", locale), "characters", rows)


def _table(reports: Sequence[Report], contrasts: Sequence[Contrast], locale: str) -> Table:
    quotients = {(c.part.get("text"), c.part.get("per")): c for c in contrasts if c.id == ID}
    rows = []
    for text, per, title in _KINDS:
        if all(r.find(ID, text=text, per=per) is None for r in reports):
            continue
        row: list[str | Shown] = [gettext(title, locale), *[find(r, ID, locale, text=text, per=per) for r in reports]]
        if quotients:
            contrast = quotients.get((text, per))
            row.append(show_contrast(contrast, locale) if contrast else Shown("absent", why=gettext("no pairs", locale)))
        rows.append(tuple(row))
    if len(reports) > 1:
        carried = next((c for c in contrasts if c.id == ROUND and not c.part), None)
        row = [gettext("characters per round", locale), *[find(r, ROUND, locale) for r in reports]]
        if quotients:
            row.append(show_contrast(carried, locale) if carried else Shown("absent", why=gettext("no pairs", locale)))
        rows.append(tuple(row))
    columns = [gettext("Text", locale), *[series_name(r, reports, locale) for r in reports]]
    return Table((*columns, gettext("Quotient", locale)) if quotients else tuple(columns), tuple(rows))
