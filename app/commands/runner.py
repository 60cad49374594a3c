"""`bezmen runner`: becomes the agent of a runner on this machine. The laboratory is another program; it is executed, never imported."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from app.commands.settings import read


def runner(
    context: typer.Context,
    url: Annotated[str | None, typer.Option(help="Address of the service; BEZMEN_URL without it.")] = None,
    token_file: Annotated[Path | None, typer.Option(help="File with the runner's token, readable by you alone.")] = None,
) -> None:
    """Start a runner on this machine; further arguments go to the agent as they are."""
    settings = read()
    file = token_file or settings.runner_token_file
    if not file.is_file():
        typer.echo(f"There is no token in {file}. `bezmen token create NAME --scope runner` makes one; put it into a file of mode 0600.", err=True)
        raise typer.Exit(2)
    own = ["--url", url or settings.base_url, "--token-file", str(file), "--data", str(settings.data / "runner")]
    arguments = [sys.executable, "-m", "runners.agent", *own, *context.args]
    os.execv(sys.executable, arguments)
