"""How `wait`, `compare` and `gate` print: text for people, JSON for programs, Markdown for a merge request, JUnit for a build server."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from app.commands.exits import status_of
from app.commands.junit import junit
from app.commands.markdown import SIGNS, markdown
from app.commands.settings import usage
from app.commands.told import Told


class Tongue(StrEnum):
    EN = "en"
    RU = "ru"


AsJson = Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print a comment for a merge request.")]
Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write a JUnit file.")]
Locale = Annotated[Tongue, typer.Option("--locale", help="Language of the sentences.")]
Timeout = Annotated[float | None, typer.Option(min=0, help="Seconds to wait for runs that have not ended.")]


@dataclass(frozen=True)
class Output:
    """Raises typer.Exit with status 2 where it is asked for both JSON and Markdown."""

    json: bool
    markdown: bool
    junit: Path | None
    locale: str
    base: str

    def __post_init__(self) -> None:
        if self.json and self.markdown:
            raise usage("--json and --markdown both print to standard output; choose one.")

    def end(self, told: Sequence[Told], body: Any) -> None:
        """Prints and ends the command with its status. `body` is what JSON shows."""
        if self.junit is not None:
            self.junit.write_bytes(junit(told))
        if self.json:
            typer.echo(json.dumps(body, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace"))
        elif self.markdown:
            typer.echo(markdown(told, self.base, self.locale))
        else:
            for each in told:
                typer.echo(text(each))
        status = status_of(each.answer for each in told)
        if status:
            raise typer.Exit(status)


def text(told: Told) -> str:
    asked = [row for row in told.rows if row.answer is not None]
    lines = [f"  {SIGNS[row.answer]} {row.figure} {row.bound}: {row.why}" for row in asked if row.answer is not None]
    return "\n".join([f"{told.name}: {told.sentence}", *lines, *(f"  {note}" for note in told.notes if asked)])
