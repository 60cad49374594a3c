"""The `bezmen` command."""

import os
import sys

import typer

from app.commands import (
    bring,
    cancel,
    compare,
    database,
    demo,
    gate,
    probe,
    project,
    runner,
    serve,
    submit,
    suite,
    table,
    token,
    toy,
    user,
    wait,
    zoo,
)

FAILED = 3
commands = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Weighs speculative decoding on your hardware, in your language, under your load."
)
commands.command()(serve.serve)
commands.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(runner.runner)
commands.command()(submit.submit)
commands.command()(wait.wait)
commands.command()(cancel.cancel)
commands.command()(compare.compare)
commands.command()(gate.gate)
commands.command()(table.table)
commands.command(name="import")(bring.bring)
commands.command()(probe.probe)
commands.command(name="probe-cancel")(probe.cancel)
commands.command()(demo.demo)
commands.command()(toy.toy)
commands.add_typer(token.app, name="token")
commands.add_typer(user.app, name="user")
commands.add_typer(project.app, name="project")
commands.add_typer(suite.app, name="suite")
commands.add_typer(zoo.app, name="zoo")
commands.add_typer(database.app, name="db")


def main() -> None:
    """Runs the command; a full disk or a folder that cannot be written ends it with a sentence and status 3."""
    try:
        commands()
    except OSError as error:
        # What stdout still holds would fail once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = f"{error.filename}: " if error.filename else "The output could not be written: "
        typer.echo(f"{where}{error.strerror or error}", err=True)
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
