"""`bezmen user`: people who log in, where other machines can reach the service. Works on the database itself."""

import sys
from typing import Annotated

import typer

from app.access.service import Access
from app.access.tokens import SCOPES
from app.access.users import Users
from app.commands.database import opened, run
from app.commands.settings import usage
from app.storage.view import DEFAULT

app = typer.Typer(no_args_is_help=True, help="Make and remove people who log in with a password.")
FromStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from the first line of the input instead of asking for it.")]


@app.command()
def add(
    name: str,
    scope: Annotated[list[str], typer.Option(help="read, submit or admin; may be repeated.")] = ["read", "submit"],  # noqa: B006
    project: Annotated[str, typer.Option(help="Whose runs this user sees.")] = DEFAULT,
    every_project: Annotated[bool, typer.Option("--every-project", help="This user sees all of them.")] = False,
    password_stdin: FromStdin = False,
) -> None:
    """Make a user, who logs in at /login."""
    known = tuple(item for item in SCOPES if item in scope and item != "runner")
    if len(known) != len(set(scope)):
        raise usage("a user's scopes are read, submit and admin")
    password = _password(from_stdin=password_stdin)

    async def work() -> None:
        async with opened() as database:
            place = None if every_project else project
            if place is not None:
                await Access(database).require_project(place)
            await Users(database).add(name, password, known, place)

    run(work())
    typer.echo(f"{name} may log in")


@app.command("password")
def set_password(name: str, password_stdin: FromStdin = False) -> None:
    """Give a user another password; every session of the old one ends."""
    password = _password(from_stdin=password_stdin)

    async def work() -> None:
        async with opened() as database:
            await Users(database).set_password(name, password)

    run(work())
    typer.echo(f"{name} has a new password")


@app.command()
def remove(name: str) -> None:
    """Remove a user and end every session."""

    async def work() -> None:
        async with opened() as database:
            await Users(database).remove(name)

    run(work())
    typer.echo(f"{name} is removed")


@app.command("list")
def listed() -> None:
    """Names, scopes and projects."""

    async def work() -> None:
        async with opened() as database:
            for user in await Users(database).listed():
                typer.echo(f"{user.name}\t{','.join(user.scopes)}\t{user.project or 'every project'}\tmade {user.created_at:%Y-%m-%d}")

    run(work())


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
