"""`bezmen wait`, and how other commands wait."""

import time
from typing import Annotated, Any

import typer

from app.commands.client import INFRASTRUCTURE, Client
from app.commands.output import AsJson, AsMarkdown, Junit, Locale, Output, Timeout, Tongue
from app.commands.settings import read
from app.commands.told import of_run
from app.reports.report import Report


def wait(
    runs: Annotated[list[int], typer.Argument(help="Numbers of runs; a number said twice counts once.")],
    timeout: Timeout = None,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    junit: Junit = None,
    locale: Locale = Tongue.EN,
) -> None:
    """Wait until runs have ended and print their answers. Status 0 when all were measured, 3 when one was refused, failed or not done in time."""
    runs = list(dict.fromkeys(runs))
    settings = read()
    output = Output(as_json, as_markdown, junit, locale, settings.base_url)
    with Client(settings) as client:
        until_ended(client, runs, timeout)
        reports = [client.get(f"/api/v1/runs/{run}/report") for run in runs]
    output.end([of_run(Report.model_validate(report), locale) for report in reports], reports)


def until_ended(client: Client, runs: list[int], timeout: float | None) -> None:
    """Ends the command with status 3 when time is up before all of them have ended."""
    until = None if timeout is None else time.monotonic() + timeout
    for run in runs:
        ended = _ended(client, run, until)
        if ended["state"] != "succeeded":
            typer.echo(f"run {run} {ended['state']}: {ended['failure'] or 'cancelled'}", err=True)


def _ended(client: Client, run: int, until: float | None) -> dict[str, Any]:
    last = ""
    while True:
        found: dict[str, Any] = client.get(f"/api/v1/runs/{run}")
        if found["finished_at"] is not None:
            return found
        seen = _progress(found)
        if seen != last:
            typer.echo(f"run {run}: {seen}", err=True)
            last = seen
        if until is not None and time.monotonic() > until:
            typer.echo(f"run {run} has not ended in time: {seen}", err=True)
            raise typer.Exit(INFRASTRUCTURE)
        time.sleep(1)


def _progress(run: dict[str, Any]) -> str:
    if run["state"] == "queued":
        return " ".join(part for part in (f"number {run['queue_position']} in the queue.", run["waiting"]) if part)
    progress = run["progress"]
    return f"{run['state']} on {run['runner']}" + (f", {progress['stage']} {progress['done']}/{progress['total']}" if progress else "")
