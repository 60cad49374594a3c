"""What a language costs with a tokenizer, what is accepted in it, and what is refused."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from app.domain.estimate import Cell
from app.imports.service import Imports, imports_service
from app.languages.schemas import LanguageRow, Languages, Measured
from app.languages.schemas import Refused as RefusedRun
from app.languages.service import Tongues, languages_service
from app.reports.figures.base import Table
from app.reports.figures.by_language import Line, Pair, acceptance, fertility
from app.reports.format import say
from app.reports.loads import spoken
from app.reports.report import NODES
from app.reports.shown import Shown, missing, pending, show
from app.reports.translate import gettext
from app.reports.words import mark, name_of, speedup_of
from app.web.passport import part
from app.web.preferences import locale_of
from app.web.render import page

router = APIRouter(include_in_schema=False)
KINDS = (
    ("prompts", "word", mark("tokens per word, prompts")),
    ("prompts", "character", mark("tokens per character, prompts")),
    ("outputs", "word", mark("tokens per word, answers")),
    ("outputs", "character", mark("tokens per character, answers")),
)


@dataclass(frozen=True)
class Row:
    """A tokenizer in a language, with the four fertilities in the order of KINDS."""

    found: LanguageRow
    tokenizer: str
    fertility: tuple[Shown, ...]


@dataclass(frozen=True)
class Run:
    """A run of a kind; speed-up and acceptance stand next to each other."""

    found: Measured
    tokenizer: str
    drafter: str
    load: str
    speedup: Shown
    acceptance: Shown
    chars: Shown


@dataclass(frozen=True)
class Refused:
    found: RefusedRun
    reason: str
    remedy: str


@router.get("/languages")
async def languages_page(
    request: Request, tongues: Annotated[Tongues, Depends(languages_service)], imports: Annotated[Imports, Depends(imports_service)]
) -> Response:
    outside = await imports.refused()
    return page(request, "languages.html", **view(await tongues.summary(), locale_of(request)), outside=outside)


def view(found: Languages, locale: str) -> dict[str, Any]:
    rows = [Row(row, tokenizer_of(row), tuple(_fertility(row, text, per, locale) for text, per, _ in KINDS)) for row in found.rows]
    runs = with_devices([run_of(one, tokenizer_of(one), locale) for row in found.rows for one in row.measured])
    lines = [[_line(row, place) for row in rows] for place in range(len(KINDS))]
    panels = [(gettext(KINDS[place][2], locale), lines[place]) for place in (0, 1)]
    pairs = [_pair(run) for run in runs]
    return {
        "rows": rows,
        "runs": runs,
        "refused": [Refused(one, say(one.reason, locale), _say(one, locale)) for one in found.refusals],
        "stopped": [Refused(one, say(one.reason, locale), "") for one in found.stopped],
        "unlisted": sum(row.refused_runs for row in found.rows) - len({one.run for one in found.refusals}),
        "plots": [fertility(panels, _words_table(rows, locale), locale), acceptance(pairs, _runs_table(runs, locale), locale)] if runs else [],
    }


def tokenizer_of(row: LanguageRow | Measured) -> str:
    """The tokenizer as the checks found it, or as it was named where none was found."""
    return row.tokenizer.short if row.tokenizer else row.tokenizer_named


def _brief(row: LanguageRow | Measured) -> str:
    """What has room beside a plot: the last part of the name."""
    named = row.tokenizer.name if row.tokenizer else row.tokenizer_named
    return named.rpartition(":")[2].rpartition("/")[2][:16]


def _cell(row: LanguageRow, text: str, per: str) -> Cell | None:
    exact = next((cell for cell in row.fertility if cell.part == {"text": text, "per": per}), None)
    return exact or next((cell for cell in row.fertility if not cell.part), None)


def _fertility(row: LanguageRow, text: str, per: str, locale: str) -> Shown:
    cell = _cell(row, text, per)
    return missing("fertility", locale) if cell is None else show(cell, None, locale)


def _line(row: Row, place: int) -> Line:
    text, per, _ = KINDS[place]
    return Line(f"{row.found.language} · {_brief(row.found)}", row.found.language, _cell(row.found, text, per), row.fertility[place])


def run_of(one: Measured, tokenizer: str, locale: str) -> Run:
    """A run's numbers as its own report judges them: the headline is hollow where the verdict is `cannot tell`."""
    speedup, accepted = _shown(one.speedup, one, "", locale), _shown(one.acceptance, one, "acceptance_rate", locale)
    if one.speedup is not None and speedup.value:
        undecided = one.outcome == "cannot tell"
        speedup = replace(speedup, n=f"{speedup.n} · {speedup_of(one.speedup.id, locale)}", state="cannot tell" if undecided else speedup.state)
    rest = (accepted, _shown(one.chars_per_round, one, "chars_per_round", locale))
    return Run(one, tokenizer, part(one.drafter, one.engine), spoken(one.load, locale), speedup, *(_once(cell, speedup, locale) for cell in rest))


def _once(cell: Shown, first: Shown, locale: str) -> Shown:
    """One reason is told once a run."""
    same = cell.state == first.state == "refused" and cell.why == first.why
    return replace(cell, why=gettext("refused for the same reason", locale), remedy="") if same else cell


def with_devices(runs: list[Run]) -> list[Run]:
    """The device beside the load, where runs of several devices stand together."""
    several = len({run.found.device for run in runs}) > 1
    return [replace(run, load=f"{run.load} · {run.found.device}") if several and run.found.device else run for run in runs]


def _shown(cell: Cell | None, one: Measured, id: str, locale: str) -> Shown:
    if cell is None:
        return pending(gettext("being computed", locale)) if one.outcome is None else missing(id, locale)
    return show(cell, None, locale)


def _pair(run: Run) -> Pair:
    one = run.found
    name = f"{one.language} · {one.drafter_title} · #{one.run}"
    # That of trees is another figure and has no place on the axis of chains'.
    accepted = None if one.acceptance is not None and one.acceptance.id == NODES else one.acceptance
    return Pair(Line(name, one.language, accepted, run.acceptance), Line(name, one.language, one.speedup, run.speedup))


def _words_table(rows: Sequence[Row], locale: str) -> Table:
    columns = (gettext("Tokenizer", locale), gettext("Language", locale), *(gettext(title, locale) for _, _, title in KINDS))
    return Table(columns, tuple((row.tokenizer, row.found.language, *row.fertility) for row in rows))


def _runs_table(runs: Sequence[Run], locale: str) -> Table:
    columns = (gettext("Run", locale), gettext("Language", locale), gettext("Speed-up", locale), name_of("acceptance_rate", locale))
    return Table(columns, tuple((f"#{run.found.run} {run.drafter}", run.found.language, run.speedup, run.acceptance) for run in runs))


def _say(one: RefusedRun, locale: str) -> str:
    return "" if one.remedy is None else say(one.remedy, locale)
