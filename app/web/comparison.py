"""A comparison as its page shows it: everything that the template prints, in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.comparisons.schemas import PLOTTED, Asked
from app.reports.fields import field_name
from app.reports.figures import along, by_load, fertility, forest, latency, lengths, positions, profiles, spans, throughput
from app.reports.figures.base import Plot
from app.reports.format import counted, decimal, say
from app.reports.imported_shown import held
from app.reports.loads import brief, slug
from app.reports.report import Comparison, Report
from app.reports.shown import Shown, find, is_refused
from app.reports.translate import gettext
from app.reports.words import mark, speedup_of
from app.web import comparison_tables as tables
from app.web import passport
from app.web.refused import refused

Link = tuple[str, str, bool]
NAMES: dict[str, str] = {
    "forest": mark("Does it pay?"), "loads": mark("Until what load does it pay?"), "profiles": mark("By text profile"),
    "positions": mark("By position in the draft"), "lengths": mark("Draft length over time"), "along": mark("Along the answer"),
    "spans": mark("By window of text"), "fertility": mark("What a token carries"), "throughput": mark("How fast it is"),
    "latency": mark("How long a request takes"),
}  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """One run in the answer: its verdict, and the two numbers that are never shown one without the other."""

    report: Report
    refused: bool
    kind: str
    load: str
    speedup: Shown
    acceptance: Shown


def judged(report: Report, locale: str, *, loads: bool) -> Judged:
    kind, speedup = speedup_of(report.headline, locale), find(report, report.headline, locale)
    load = brief(report.spec.load, locale) if loads else ""
    return Judged(report, is_refused(report), kind, load, speedup, find(report, report.acceptance, locale))


def view(found: Comparison, what: Asked, locale: str) -> dict[str, Any]:
    reports, focus, swapped = found.reports, tables.focus(found), replace(what, runs=(*what.runs[1::-1], *what.runs[2:])).canonical()
    several = len({report.spec.load for report in reports}) > 1
    columns, rows = tables.definitions(found, locale)
    plots = [(name, made) for name, make in _plots(found, what, locale).items() if (made := make()) is not None]
    return {
        "comparison": found,
        "reports": reports,
        "title": f"{say(found.answer, locale)} · {', '.join(f'#{report.run}' for report in reports)}",
        "verdicts": [judged(r, locale, loads=several) for r in reports],
        "crossings": crossings(found, locale),
        "mixed": len({r.headline for r in reports}) > 1,
        "allowed": next((pair.allowed for pair in found.pairs if [pair.run, pair.against] == [r.run for r in reports[:2]]), None),
        "reasons": [text for text in found.refused if text != found.answer],
        "key_table": tables.key_table(found, locale),
        "definition_columns": columns,
        "definitions": rows,
        "pairs": tables.pairs_table(found, locale),
        "differences": passport.side_by_side(found, locale),
        "agreeing": [field_name(name, locale) for name in found.agreeing],
        "passports": [(r, passport.compact(r, locale)) for r in focus],
        "lines": tables.passports(found, locale),
        "plots": [made for name, made in plots if what.shows(name)],
        "others": others(found, locale),
        "against": against_links(what) if len(reports) > 2 else [],
        "adjusted": adjusted(reports, locale),
        "loads": load_links(found, what, locale),
        "toggles": position_links(what, locale),
        "choices": [(name, gettext(NAMES[name], locale), what.shows(name)) for name, _ in plots],
        "asked": what,
        "figures": tables.figures_table(found, locale),
        "held": [(tables.heading(r), [held(each, locale) for each in r.beside]) for r in focus if r.beside],
        "refused": refused(reports, locale),
        "swap": swapped.address(),
        "permalink": what.address(),
        "twin": what.address("/api/v1/comparisons"),
        "csv": what.address("/api/v1/comparisons.csv"),
        "parquet": what.address("/api/v1/comparisons.parquet"),
        "file": what.address("/compare.html"),
    }


def _plots(found: Comparison, what: Asked, locale: str) -> dict[str, Callable[[], Plot | None]]:
    """In the page's order; None for what these runs cannot have. What has a load as its axis or as its rows shows all runs, the rest one load."""
    reports, contrasts = tables.focus(found), found.contrasts
    makers: dict[str, Callable[[], Plot | None]] = {
        "forest": lambda: forest.build(found.reports, locale),
        "loads": lambda: by_load.build(found, locale) if by_load.has_loads(found) else None,
        "profiles": lambda: profiles.build(reports, locale, contrasts),
        "positions": lambda: positions.build(reports, locale, what.position, contrasts),
        "lengths": lambda: lengths.build(reports, locale),
        "along": lambda: along.build(reports, locale),
        "spans": lambda: spans.build(reports, locale) if _single(reports) else None,
        "fertility": lambda: fertility.build(reports, locale, contrasts),
        "throughput": lambda: throughput.build(reports, locale),
        "latency": lambda: None if _single(reports) else latency.build(reports, locale),
    }
    assert tuple(makers) == PLOTTED
    return makers


def _single(reports: Sequence[Report]) -> bool:
    return all(report.spec.load.regime == "single" for report in reports)


def crossings(found: Comparison, locale: str) -> list[str]:
    """Where each series stops paying, by its name where there are several."""
    by_run = {report.run: report for report in found.reports}
    known = [(by_run[own.runs[0]], own.break_even_load) for own in found.series if own.break_even_load is not None]
    if len(found.series) == 1:
        return [say(each.sentence, locale) for _, each in known]
    return [f"{tables.heading(first).rpartition(' · ')[0]}: {say(each.sentence, locale)}" for first, each in known]


def others(found: Comparison, locale: str) -> str:
    """What stands in the table of pairs; empty where there is none, since the answer's own pair is all that there is."""
    if len(found.pairs) < 2:
        return ""
    if any(len(own.runs) > 1 for own in found.series) and len(found.series) > 1:
        text = gettext("Each series is held against that of run %(run)s, at each load that both have, in a table below.", locale)
    else:
        text = gettext("Each other run is held against run %(run)s in a table below.", locale)
    return text % {"run": found.reports[0].run}


def against_links(what: Asked) -> list[Link]:
    """Links to the same runs with another one first, which is what the others are held against."""
    order = sorted(what.runs)
    return [(f"#{run}", replace(what, runs=(run, *(each for each in order if each != run))).address(), run == what.runs[0]) for run in order]


def adjusted(reports: Sequence[Report], locale: str) -> str:
    """What the verdicts allow for and the contrasts do not. A run's family is its campaign, or the runs of this page where those are more."""
    sizes = sorted({report.verdict.family for report in reports})
    if sizes[-1] == 1:
        return ""
    if len(sizes) == 1:
        text = gettext("Verdicts do allow for it (Holm): “pays” has to hold among %(runs)s weighed together.", locale)
    else:
        text = gettext("Verdicts do allow for it (Holm): “pays” has to hold among all weighed together, from %(fewest)s to %(runs)s.", locale)
    return text % {"runs": counted(sizes[-1], "runs", locale), "fewest": decimal(sizes[0], 0, locale)}


def load_links(found: Comparison, what: Asked, locale: str) -> list[Link]:
    """Links between the loads at which runs can be contrasted; none where there is nothing to choose."""
    names = {slug(report.spec.load): brief(report.spec.load, locale) for report in found.reports}
    return [(names[load], replace(what, load=load).address(), load == found.load) for load in found.loads]


def position_links(what: Asked, locale: str) -> list[Link]:
    """The three definitions of acceptance by position, as links: a toggle without a script."""
    links = []
    for key, text in positions.SHORT.items():
        address = replace(what, position=key).address()  # type: ignore[arg-type]
        links.append((gettext(text, locale), f"{address}#plot-positions", key == what.position))
    return links


def natural(runs: Sequence[tuple[int, str, tuple[Any, ...]]]) -> list[int]:
    """The order of runs that were checked in a list, (run, language, weight of its load): another language is held against English, and a later run
    against an earlier one."""
    return [run for run, _, _ in sorted(runs, key=lambda each: (each[1].split("-")[0] == "en", each[2], each[0]))]
