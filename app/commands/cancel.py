"""`bezmen cancel`."""

from typing import Annotated

import typer

from app.commands.client import Client
from app.commands.settings import read


def cancel(runs: Annotated[list[int], typer.Argument(help="Numbers of runs.")]) -> None:
    """End runs that have not ended, whoever waits for them. What they measured is kept."""
    with Client(read()) as client:
        for run in dict.fromkeys(runs):
            found = client.post(f"/api/v1/runs/{run}/cancel", {})
            typer.echo(f"run {found['id']} {found['state']}")
