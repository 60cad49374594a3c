"""`bezmen runner`: becomes the agent of a runner on this machine. The laboratory is another program; it is executed, never imported."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from app.commands.client import Client
from app.commands.settings import read, usage
from app.settings import Settings


def runner(
    context: typer.Context,
    url: Annotated[str | None, typer.Option(help="Address of the service; BEZMEN_URL without it.")] = None,
    token_file: Annotated[Path | None, typer.Option(help="File with the runner's token, readable by you alone.")] = None,
    enrol: Annotated[str | None, typer.Option(help="An enrolment token: it becomes this runner's own, which is kept in the token file.")] = None,
) -> None:
    """Start a runner on this machine; further arguments go to the agent as they are."""
    settings = read()
    file = token_file or settings.runner_token_file
    if enrol is not None:
        _enrol(read(token=enrol, url=url or settings.base_url), file)
    if not file.is_file():
        said = "`bezmen token enrol NAME` on the machine of the service makes an enrolment token; start this runner with --enrol TOKEN once."
        typer.echo(f"There is no token in {file}. {said}", err=True)
        raise typer.Exit(2)
    own = ["--url", url or settings.base_url, "--token-file", str(file), "--data", str(settings.data / "runner")]
    arguments = [sys.executable, "-m", "runners.agent", *own, *context.args]
    os.execv(sys.executable, arguments)


def _enrol(settings: Settings, file: Path) -> None:
    """Exchanges an enrolment token for the runner's own. The file comes first: a token that could not be kept would be lost.

    Ends the command with status 2 where there is a file already or the service refuses, 3 where it does not answer.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise usage(f"{file} is there already: this runner has a token. Start it without --enrol, or remove the file to enrol it anew.") from error
    with os.fdopen(descriptor, "w") as kept:
        try:
            made = Client(settings).post("/api/v1/runners/enrol", {})
        except BaseException:
            file.unlink()
            raise
        kept.write(made["token"] + "\n")
    typer.echo(f"enrolled as {made['name']}; the token is in {file}")
