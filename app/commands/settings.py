"""How commands read the environment: what is wrong with it is said in one sentence."""

import re
from typing import Any

import typer
from pydantic import ValidationError

from app.settings import Settings
from app.storage.database import BadAddress, address

USAGE = 2


def read(**given: Any) -> Settings:
    """The settings; `given` are those of the command line. Ends the command with status 2 and a sentence where one cannot be."""
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        raise usage(f"{variable_of(name)} cannot be {shown(first['input'])}: {first['msg'].lower().replace('input should', 'it should')}.") from error


def reachable(settings: Settings) -> Settings:
    """The same settings. Ends the command with status 2 where DATABASE_URL is no address of a Postgres."""
    try:
        if settings.database_url is not None:
            address(settings.database_url.get_secret_value())
    except BadAddress as error:
        raise usage(str(error)) from error
    return settings


def variable_of(name: str) -> str:
    return "DATABASE_URL" if name.lower() == "database_url" else f"BEZMEN_{name.upper().removeprefix('BEZMEN_')}"


def shown(value: object) -> str:
    """A value on one line, printable whatever it holds."""
    return re.sub(r"\s+", " ", str(value))[:80].encode("utf-8", "backslashreplace").decode()


def usage(text: str) -> typer.Exit:
    typer.echo(text, err=True)
    return typer.Exit(USAGE)
