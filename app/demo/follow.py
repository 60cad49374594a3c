"""Live progress of the demo's runs, and its table at the end."""

import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from app.commands.client import Client
from app.domain.estimate import Cell
from app.reports.format import duration, say
from app.reports.report import Comparison, Report
from app.reports.shown import find, show_contrast
from app.reports.translate import language_name

ENDED = {"succeeded", "failed", "cancelled"}
STAGES = {
    "checking": "checking tokenizer, language, memory",
    "loading": "loading the model",
    "warming": "warming up",
    "trial": "measuring",
    "profile": "timing draft and verification apart",
    "losslessness": "comparing in float32",
    "computing": "computing",
}


def follow(client: Client, console: Console, ids: list[int], check: Callable[[], None]) -> list[dict[str, Any]]:
    """Shows the runs until all have ended; returns them. A console that is no terminal gets a line a change."""
    said: dict[int, str] = {}
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        while True:
            runs = [client.get(f"/api/v1/runs/{run}") for run in ids]
            if console.is_terminal:
                live.update(_progress(runs))
            else:
                _say_changes(console, runs, said)
            if all(run["state"] in ENDED for run in runs):
                return runs
            check()
            time.sleep(0.5)


def _say_changes(console: Console, runs: list[dict[str, Any]], said: dict[int, str]) -> None:
    for run in runs:
        progress = run["progress"] or {}
        state = STAGES.get(progress.get("stage", ""), run["state"]) if run["state"] not in ENDED else run["state"]
        if said.get(run["id"]) != state:
            said[run["id"]] = state
            console.print(f"run {run['id']} {run['spec']['drafter']['name']} {run['spec']['language']}: {state}", highlight=False)


def _progress(runs: list[dict[str, Any]]) -> Table:
    table = Table(box=None)
    for name in ("run", "drafter", "language", "", ""):
        table.add_column(name)
    for run in runs:
        progress = run["progress"] or {}
        done, total, remaining = progress.get("done", 0), progress.get("total", 0), progress.get("remaining")
        state = run["state"] if run["state"] in ENDED or not progress else STAGES[progress["stage"]]
        bar = "█" * round(20 * done / total) + "░" * (20 - round(20 * done / total)) if total and run["state"] not in ENDED else ""
        left = f" about {duration(remaining)} left" if remaining and run["state"] not in ENDED else ""
        if left and progress.get("half_width") is not None:
            left += f", interval about ± {progress['half_width']:.1%}"
        table.add_row(str(run["id"]), run["spec"]["drafter"]["name"], run["spec"]["language"], state, bar + left)
    return table


def conclude(console: Console, base: str, pairs: list[Comparison]) -> None:
    """The comparison table, the answers in words and where to look."""
    table = Table(title="Russian and English on the same prompts, one request at a time")
    for name in ("drafter", "language", "verdict", "speed-up", "acceptance, V/D", "prompt tokens a word"):
        table.add_column(name, no_wrap=True)
    for pair in pairs:
        for report in pair.reports:
            table.add_row(*_row(report))
        table.add_row(
            "", "ru against en", "", *[_contrast(pair, id) for id in ("speedup_end_to_end", "acceptance_rate")], _fertility(pair), end_section=True
        )
    console.print(table)
    for pair in pairs:
        for report in pair.reports:
            console.print(
                f"run {report.run}, {report.spec.drafter_title} in {language_name(report.spec.language, 'en')}: {say(report.answer)}", highlight=False
            )
        console.print(f"compared: {say(pair.answer)}", highlight=False)
    console.print("\nLook at it:", highlight=False)
    console.print(f"  {base}/runs", highlight=False)
    for pair in pairs:
        console.print(
            f"  {base}/compare?runs={','.join(str(report.run) for report in pair.reports)}  {pair.reports[0].spec.drafter_title}, ru and en",
            highlight=False,
        )


def _row(report: Report) -> list[str]:
    verdict = "refused" if _refused(report.find(report.acceptance)) else report.verdict.outcome
    cells = [_cell(report, report.headline), _cell(report, report.acceptance), _cell(report, "fertility", text="prompts", per="word")]
    return [report.spec.drafter_title, report.spec.language, verdict, *cells]


def _refused(cell: Cell | None) -> bool:
    return cell is not None and hasattr(cell, "field")


def _cell(report: Report, id: str, **part: str) -> str:
    shown = find(report, id, "en", **part)
    return f"{shown.value} {shown.interval}".strip() or shown.state


def _contrast(pair: Comparison, id: str, **part: str) -> str:
    found = next((c for c in pair.contrasts if c.id == id and c.part == part), None)
    if found is None:
        return "no contrast"
    shown = show_contrast(found, "en")
    return f"{shown.value} {shown.interval}".strip() or shown.why


def _fertility(pair: Comparison) -> str:
    return _contrast(pair, "fertility", text="prompts", per="word")
