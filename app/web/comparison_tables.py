"""The tables of a comparison: acceptance never without speed beside it, each difference with its own interval."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.passport import Passport
from app.metrics.catalogue import METRICS
from app.reports.axes import NAMED_ONLY, canonical
from app.reports.axes import shown as printed
from app.reports.fields import field_name, field_value
from app.reports.figures.base import Table
from app.reports.format import say
from app.reports.loads import brief, slug
from app.reports.report import Comparison, Contrast, Pair, Report
from app.reports.shown import Shown, find, part_of, show_contrast
from app.reports.translate import gettext
from app.reports.words import mark, name_of
from app.web.formulas import formula_of, printed_of
from app.web.losslessness import output

DEFINITIONS = (
    "acceptance_rate", "acceptance_rate_nodes", "verified_per_position", "accepted_per_round", "tokens_per_round", "tokens_per_target_forward",
    "tokens_per_forward_all", "accepted_share", "draft_coverage",
)  # fmt: skip
_CARRIED: tuple[tuple[str, dict[str, str]], ...] = (
    ("tokens_per_target_forward", {}), ("fertility", {"text": "prompts", "per": "word"}), ("chars_per_round", {}),
    ("throughput", {"arm": "speculative", "of": "characters"}),
)  # fmt: skip


def focus(found: Comparison) -> tuple[Report, ...]:
    """The runs at the chosen load; all where there is none to choose."""
    return tuple(report for report in found.reports if found.load is None or slug(report.spec.load) == found.load)


def key_table(found: Comparison, locale: str) -> Table:
    """Speed-up and acceptance first and next to each other; then what a token carries; last whether the output stayed the same."""
    reports = focus(found)
    headlines: list[tuple[str, dict[str, str]]] = [(id, {}) for id in dict.fromkeys(r.headline for r in reports)]
    accepted: list[tuple[str, dict[str, str]]] = [(id, {}) for id in dict.fromkeys(r.acceptance for r in reports)]
    table = _table(found, reports, [*headlines, *accepted, *_CARRIED], locale)
    outputs = [output(r.losslessness, locale, drawn=r.spec.sampling.temperature > 0) for r in reports]
    rest = () if len(table.columns) == len(outputs) + 1 else (Shown("absent", why=gettext("not contrasted", locale)),)
    return Table(table.columns, (*table.rows, (gettext("Output", locale), *outputs, *rest)))


def figures_table(found: Comparison, locale: str) -> Table:
    keys = list(dict.fromkeys((cell.id, tuple(cell.part.items())) for r in found.reports for cell in r.cells))
    return _table(found, found.reports, [(id, dict(part)) for id, part in keys], locale)


@dataclass(frozen=True)
class Definition:
    """One way to count acceptance; `id` leads to the methodology. Symbols and names of facts are the same in every language."""

    id: str
    name: str
    formula: str
    printed: str
    cells: tuple[Shown, ...]


def definitions(found: Comparison, locale: str) -> tuple[tuple[str, ...], list[Definition]]:
    """(columns, rows): the headline speed-up, and below it every definition of acceptance that a run of these has."""
    reports = focus(found)
    ids = [*dict.fromkeys(r.headline for r in reports), *(id for id in DEFINITIONS if any(r.find(id) is not None for r in reports))]
    table = _table(found, reports, [(id, {}) for id in ids], locale)
    rows = []
    for id, row in zip(ids, table.rows, strict=True):
        metric = METRICS[id]
        cells = tuple(cell for cell in row[1:] if isinstance(cell, Shown))
        rows.append(Definition(id, name_of(id, locale), formula_of(metric, locale), printed_of(metric, locale), cells))
    return table.columns, rows


def _table(found: Comparison, reports: Sequence[Report], keys: Sequence[tuple[str, dict[str, str]]], locale: str) -> Table:
    contrasted = len(reports) == 2 or bool(found.contrasts)
    rows: list[tuple[str | Shown, ...]] = []
    for id, part in keys:
        cells = [r.find(id, **part) for r in reports]
        narrowed = next((part_of(c, locale) for c in cells if c is not None), "")
        row: list[str | Shown] = [name_of(id, locale) + (f", {narrowed}" if narrowed else ""), *[find(r, id, locale, **part) for r in reports]]
        if contrasted:
            row.append(_contrast(found.contrasts, id, part, locale))
        rows.append(tuple(row))
    columns = [gettext("Figure", locale), *[heading(r) for r in reports]]
    return Table((*columns, _against(found, locale)) if contrasted else tuple(columns), tuple(rows))


def _against(found: Comparison, locale: str) -> str:
    """What is held against what; of more than two runs by their numbers."""
    if len(found.reports) == 2:
        return gettext("first against second", locale)
    first, second = found.reports[:2]
    return gettext("#%(run)s against #%(other)s", locale) % {"run": first.run, "other": second.run}


def _contrast(contrasts: Sequence[Contrast], id: str, part: dict[str, str], locale: str) -> Shown:
    contrast = next((c for c in contrasts if c.id == id and c.part == part), None)
    return Shown("absent", id, why=gettext("not contrasted", locale)) if contrast is None else show_contrast(contrast, locale)


def heading(report: Report) -> str:
    mark = {"ru": " ●", "en": " ■"}.get(report.spec.language.split("-")[0], "")
    return f"{report.spec.language}{mark} · {report.spec.drafter_title} · #{report.run}"


def pairs_table(found: Comparison, locale: str) -> Table:
    """A row a pair where there is more than one: speed-up and acceptance of either run against the other."""
    by_run = {report.run: report for report in found.reports}
    words = (mark("Pair"), mark("Load"), mark("Speed-up, quotient"), mark("Acceptance, difference"))
    rows: list[tuple[str | Shown, ...]] = []
    for pair in found.pairs:
        a, b = by_run[pair.run], by_run[pair.against]
        cells = [_of_pair(pair, id, locale) for id in (a.headline if a.headline == b.headline else "speedup_decode", a.acceptance)]
        loads = " / ".join(dict.fromkeys(brief(each.spec.load, locale) for each in (a, b)))
        rows.append((f"{heading(a)} : {heading(b)}", loads, *cells))
    return Table(tuple(gettext(text, locale) for text in words), tuple(rows) if len(rows) > 1 else ())


def _of_pair(pair: Pair, id: str, locale: str) -> Shown:
    if not pair.comparable:
        return Shown("absent", id, why=say(pair.refused[0], locale))
    return _contrast(pair.contrasts, id, {}, locale)


@dataclass(frozen=True)
class Line:
    """One field of the passports side by side; `differs` has a column of its own, since a mark is found faster than a difference."""

    field: str
    values: tuple[str, ...]
    differs: bool
    outcome: bool


def passports(found: Comparison, locale: str) -> list[Line]:
    """Every field of every passport, in the passport's order; nothing where one has none."""
    kept = [report.passport for report in found.reports if report.passport is not None]
    if len(kept) < len(found.reports):
        return []
    return [_line(name, kept, locale) for name in Passport.model_fields]


def _line(name: str, kept: Sequence[Passport], locale: str) -> Line:
    differs = len({canonical(passport, name) for passport in kept}) > 1
    return Line(field_name(name, locale), tuple(field_value(name, printed(passport, name), locale) for passport in kept), differs, name in NAMED_ONLY)
