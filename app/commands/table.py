"""`bezmen table`."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from app.commands.client import Client
from app.commands.markdown import escaped
from app.commands.output import Locale, Tongue
from app.commands.settings import read, usage
from app.domain.status import FINAL, RunState
from app.reports.drafter_table import Board, Ended, boards, heads, newest
from app.reports.report import Report
from app.reports.translate import gettext
from app.web.drafter_picture import picture

PAGE = 200


def table(
    runs: Annotated[list[int] | None, typer.Argument(help="Numbers of runs; without any, the newest of each drafter, model and language.")] = None,
    campaign: Annotated[list[int], typer.Option(help="Also the runs of a campaign; may be repeated.")] = [],  # noqa: B006
    file: Annotated[Path | None, typer.Option("--picture", metavar="FILE", help="Also draw it, as SVG.")] = None,
    locale: Locale = Tongue.EN,
) -> None:
    """Print the table of drafters, as Markdown: acceptance, its ceiling, speed-up and losslessness of finished runs."""
    with Client(read()) as client:
        wanted = [*dict.fromkeys([*(runs or ()), *(run["id"] for each in campaign for run in client.get(f"/api/v1/campaigns/{each}")["runs"])])]
        found = [_ended(client, client.get(f"/api/v1/runs/{run}")) for run in wanted] if wanted else newest(_all(client))
    if not found:
        raise usage("No run has been measured yet; `bezmen submit` queues one.")
    made = boards(found, locale)
    if file is not None:
        file.write_text(picture(made, locale), encoding="utf-8")
    typer.echo("\n".join(_markdown(board, locale) for board in made), nl=False)


def _ended(client: Client, run: dict[str, Any]) -> Ended:
    if run["state"] not in FINAL:
        raise usage(f"run {run['id']} is {run['state']}; `bezmen wait {run['id']}` waits until it has ended.")
    return datetime.fromisoformat(run["finished_at"]), Report.model_validate(client.get(f"/api/v1/runs/{run['id']}/report"))


def _all(client: Client) -> list[Ended]:
    """Every run that was measured to its end."""
    found: list[Ended] = []
    cursor: int | None = None
    while True:
        page = client.get(f"/api/v1/runs?state={RunState.SUCCEEDED.value}&limit={PAGE}" + (f"&cursor={cursor}" if cursor is not None else ""))
        found += [_ended(client, run) for run in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def _markdown(board: Board, locale: str) -> str:
    drafter, *others = heads(locale)
    columns = (drafter, gettext("Parameters", locale), gettext("Model", locale), *others, gettext("Run", locale))
    rows = [
        (
            escaped(line.drafter), escaped(line.parts), escaped(line.model), line.language,
            *(escaped(each.text) for each in (line.acceptance, line.ceiling, line.speedup)), line.verdict, escaped(line.exact.text), str(line.run),
        )
        for line in board.lines
    ]  # fmt: skip
    numbered = [f"{number}. {escaped(note)}" for number, note in enumerate(board.notes, 1)]
    return "\n".join(
        [escaped(board.caption), "", _row(columns), _row(["---"] * len(columns)), *map(_row, rows), "", *numbered, *([""] if numbered else [])]
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
