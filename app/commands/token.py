"""`bezmen token`: who may talk to the service. Works on the database itself, so the first token needs no other."""

from typing import Annotated

import typer

from app.access.service import ENROL_MINUTES, Access
from app.access.tokens import SCOPES
from app.commands.database import opened, run
from app.storage.view import DEFAULT

app = typer.Typer(no_args_is_help=True, help="Create, list and revoke tokens.")


@app.command()
def create(
    name: str,
    scope: Annotated[list[str], typer.Option(help=f"One of {', '.join(SCOPES)}; may be repeated.")] = ["read", "submit"],  # noqa: B006
    project: Annotated[str, typer.Option(help="Whose runs it reaches; a runner's token measures for this project alone.")] = DEFAULT,
    every_project: Annotated[bool, typer.Option("--every-project", help="It reaches all of them.")] = False,
) -> None:
    """Make a token and print it; it is shown this once."""
    known = tuple(item for item in SCOPES if item in scope)
    if len(known) != len(set(scope)) or ("runner" in known and len(known) > 1):
        typer.echo(f"scopes are {', '.join(SCOPES)}, and runner stands alone", err=True)
        raise typer.Exit(2)

    async def work() -> str:
        async with opened() as database:
            return await Access(database).create(name, known, None if every_project else project)

    typer.echo(run(work()))


@app.command()
def enrol(
    name: Annotated[str, typer.Argument(help="Of the new runner.")],
    project: Annotated[str, typer.Option(help="The runner measures for this project alone.")] = DEFAULT,
    every_project: Annotated[bool, typer.Option("--every-project", help="It measures for all of them.")] = False,
    minutes: Annotated[float, typer.Option(min=1, max=24 * 60, help="How long it can be used.")] = ENROL_MINUTES,
) -> None:
    """Make a token that `bezmen runner --enrol` turns into a runner's own, once; it is shown this once."""

    async def work() -> str:
        async with opened() as database:
            return await Access(database).invite(name, None if every_project else project, minutes=minutes)

    typer.echo(run(work()))


@app.command("list")
def listed() -> None:
    """Names, scopes and last use; never the tokens."""

    async def work() -> None:
        async with opened() as database:
            for token in await Access(database).listed():
                used, revoked = token.last_used_at, token.revoked_at
                state = f"revoked {revoked:%Y-%m-%d}" if revoked else f"last used {used:%Y-%m-%d %H:%M}" if used else "never used"
                of = token.project or "every project"
                typer.echo(f"{token.name}\t{','.join(token.scopes)}\t{of}\tcreated {token.created_at:%Y-%m-%d}\t{state}")

    run(work())


@app.command()
def revoke(name: str) -> None:
    """Revoke every token of this name, at once."""

    async def work() -> int:
        async with opened() as database:
            return await Access(database).revoke(name)

    done = run(work())
    typer.echo(f"{done} revoked")
    if not done:
        raise typer.Exit(1)
