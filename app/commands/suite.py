"""`bezmen suite`: a file of prompts checked here, or uploaded to the service."""

from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from app.commands.client import Client
from app.commands.settings import read, shown, usage
from app.domain.prompt import SuiteError
from app.domain.suite import MAX_BYTES, SHOWN_FAULTS, parse

app = typer.Typer(no_args_is_help=True, help="Check and upload prompt suites.")
File = Annotated[Path, typer.Argument(help="JSON lines, one prompt a line: id, parallel, language, profile, answer, text.")]
Id = Annotated[str | None, typer.Option(help="A name and a version such as mine-v1; without it the file's own name.")]


@app.command()
def check(file: File, id: Id = None) -> None:
    """Say everything that is wrong with a file, by line, and what of it can be compared. Nothing is sent. Status 2 when it is no suite."""
    name, content = id or file.stem, _content(file)
    try:
        suite, warnings = parse(name, content)
    except SuiteError as error:
        raise usage(_printable(str(error))) from error
    typer.echo(f"{suite.id} {suite.digest}")
    _summary(suite.counts(), suite.parallel)
    _warn([str(fault) for fault in warnings[:SHOWN_FAULTS]], len(warnings))


@app.command()
def upload(
    file: File,
    id: Id = None,
    private: Annotated[bool, typer.Option("--private", help="The text goes to the runner that measures with it and to nobody else.")] = False,
) -> None:
    """Upload a suite; the same file again is the same suite. Prints its id and its address. Status 2 when it is no suite."""
    query = urlencode({"id": id or file.stem} | ({"private": "true"} if private else {}), errors="backslashreplace")
    settings = read()
    with Client(settings) as client:
        made = client.send(f"/api/v1/suites?{query}", _content(file), {"Content-Type": b"application/jsonl"})
    typer.echo(f"suite {made['id']} {settings.base_url}/suites/{made['id']}")
    if made["counts"] is not None:
        _summary(made["counts"], made["parallel"])
    _warn([_place(found) for found in made["warnings"]], made["warned"])


def _content(file: Path) -> bytes:
    """Ends the command with status 2 where the file cannot be read or is too large to be a suite."""
    try:
        with file.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise usage(f"{shown(file)} cannot be read: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise usage(f"{shown(file)} takes more than {MAX_BYTES // 1024**2} MiB")
    return content


def _summary(counts: dict[str, dict[str, int]], parallel: int) -> None:
    for language, profiles in counts.items():
        said = ", ".join(f"{profile} {count}" for profile, count in profiles.items())
        typer.echo(f"{language}: {sum(profiles.values())} prompts ({said})")
    typer.echo(f"parallel in every language: {parallel}")


def _warn(said: list[str], warned: int) -> None:
    for text in said:
        typer.echo(f"warning: {_printable(text)}", err=True)
    if warned > len(said):
        typer.echo(f"warning: and {warned - len(said)} more", err=True)


def _place(found: dict[str, str | int | None]) -> str:
    return f"line {found['line']}, {found['field']}: {found['detail']}"


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
