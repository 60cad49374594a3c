"""`bezmen project`: whose runs are whose."""

from typing import Annotated

import typer
from pydantic import ValidationError

from app.access.schemas import ProjectIn
from app.access.service import Access
from app.commands.database import opened, run
from app.commands.settings import usage

app = typer.Typer(no_args_is_help=True, help="Make and list projects: runs of one are seen by its tokens and users alone.")


@app.command()
def add(name: Annotated[str, typer.Argument(help="Small letters, digits and hyphens.")]) -> None:
    """Make a project; one that is there already is no error."""
    try:
        asked = ProjectIn(name=name)
    except ValidationError as error:
        raise usage("a project's name has small letters, digits and hyphens, 63 at most") from error

    async def work() -> None:
        async with opened() as database:
            await Access(database).add_project(asked.name)

    run(work())
    typer.echo(f"the project {name} is there")


@app.command("list")
def listed() -> None:
    """Names of all projects."""

    async def work() -> None:
        async with opened() as database:
            for name in await Access(database).projects():
                typer.echo(name)

    run(work())
