"""C13: trials in the order in which they ran: what was disturbed is crossed out and says so."""

from app.domain.facts import TrialFact
from app.reports.figures.base import GREY, Plot, Table, Trace, colour, draw, mark, safe, scatter, symbol, zero_axis
from app.reports.format import decimal
from app.reports.report import Report
from app.reports.shown import Shown, plain_number
from app.reports.translate import gettext
from app.reports.words import arm_of
from app.reports.words import mark as word


def build(report: Report, locale: str) -> Plot:
    """Seconds that each arm took for one pass over the prompts."""
    refused = any(gate.refused for gate in report.gates)
    trials = [t for t in report.trials if t.purpose == "headline"]
    question = gettext("Was the machine quiet?", locale)
    order = gettext("Seconds per pass over all prompts, in the order measured.", locale)
    marks = gettext("× was disturbed by other processes; hollow stands in the block of one and is not used either.", locale)
    without = gettext("The speculative arm is not shown: its ratio to plain is refused.", locale) if refused else ""
    caption = f"{order} {marks} {without}".rstrip()
    void = {t.block for t in trials if t.contended}
    table = _table(trials, void, locale)
    disturbed = [t for t in trials if t.contended]
    finding = gettext("%(disturbed)s of %(all)s passes were disturbed.", locale) % {
        "disturbed": decimal(len(disturbed), 0, locale),
        "all": decimal(len(trials), 0, locale),
    }
    if not trials:
        return Plot("trials", question, caption, finding, table, empty=gettext("No trial was finished.", locale))
    layout = {
        "xaxis": _trial_axis(trials, locale),
        "yaxis": _seconds_axis(trials, locale),
        "height": 260,
    }
    return Plot("trials", question, caption, finding, table, draw(_traces(report, trials, void, locale), layout, locale), height=260)


def _traces(report: Report, trials: list[TrialFact], void: set[int], locale: str) -> list[Trace]:
    traces = []
    for arm in ("plain", "speculative", "control"):
        own = [t for t in trials if t.arm == arm]
        if not own:
            continue
        hue = colour(report.spec.language) if arm == "speculative" else GREY
        shape = {"plain": "square", "control": "triangle-up"}.get(arm, symbol(report.spec.language))
        hover = [safe(f"{arm_of(arm, locale)} {t.trial + 1}: {plain_number('seconds', t.seconds, locale)}") + _why(t, void, locale) for t in own]
        traces.append(
            scatter(
                x=[t.trial + 1 for t in own], y=[t.seconds for t in own], mode="lines+markers", hovertext=hover,
                marker=mark(hue, shape, 9) | {"symbol": ["x-thin" if t.contended else f"{shape}-open" if t.block in void else shape for t in own]},
                line={"color": hue, "width": 1, "dash": "solid" if arm == "speculative" else "dot"}, name=arm_of(arm, locale),
            )
        )  # fmt: skip
    return traces


def _used(trial: TrialFact, void: set[int], locale: str) -> str:
    """A disturbed pass voids its block, so that no arm is timed in a quieter moment than the other."""
    if trial.contended:
        return gettext("no, disturbed", locale)
    return gettext("no, its block was disturbed", locale) if trial.block in void else gettext("yes", locale)


def _why(trial: TrialFact, void: set[int], locale: str) -> str:
    return "<br>" + safe(gettext("used", locale) + ": " + _used(trial, void, locale)) if trial.block in void else ""


def _trial_axis(trials: list[TrialFact], locale: str) -> dict[str, object]:
    last = max(t.trial for t in trials) + 1
    step = max(1, -(-last // 6))
    ticks = list(range(1, last + 1, step))
    return {"tickmode": "array", "tickvals": ticks, "ticktext": [decimal(t, 0, locale) for t in ticks], "range": [0.5, last + 0.5]}


def _seconds_axis(trials: list[TrialFact], locale: str) -> dict[str, object]:
    return zero_axis("seconds", max(t.seconds for t in trials) * 1.1 or 1.0, locale, named=True)


def _table(trials: list[TrialFact], void: set[int], locale: str) -> Table:
    words = (word("Pass"), word("Arm"), word("Seconds"), word("Other processes"), word("Used"))
    columns = tuple(gettext(text, locale) for text in words)
    rows = []
    for t in trials:
        others = Shown("absent", why=gettext("could not be read", locale)) if t.others is None else plain_number("share", t.others, locale)
        shown = (decimal(t.trial + 1, 0, locale), arm_of(t.arm, locale), plain_number("seconds", t.seconds, locale))
        rows.append((*shown, others, _used(t, void, locale)))
    return Table(columns, tuple(rows))
