"""Writes the reference of figures, commands and routes: `python -m tests.reference`. A test holds the file to what it is made of."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from app.access.principal import Needs
from app.cli import commands
from app.discovery import modules_of
from app.main import create_app
from app.metrics.base import Metric
from app.metrics.catalogue import METRICS
from app.settings import Settings
from tests.integration.test_scopes import ROUTES

FILE = Path(__file__).parents[1] / "app" / "web" / "static" / "docs" / "reference.md"
HEAD = """# Reference

Made by `make reference` from the catalogue of figures, the commands and the description of the API; a test says when it is behind.
"""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def first(text: str) -> str:
    """The first paragraph of a docstring, in one line."""
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split())


def figures() -> list[tuple[str, ...]]:
    """One line a figure: id, what it answers, formula, other names. Raises TypeError where its file does not say what it answers."""
    said: dict[str, str] = {}
    for module in modules_of("app.metrics.figures"):
        metric: Metric = module.METRIC
        if not module.__doc__:
            raise TypeError(f"{module.__name__} does not say what its figure answers")
        said[metric.id] = first(module.__doc__)
    return [(f"`{metric.id}`", said[metric.id], metric.formula, metric.also_printed_as) for metric in METRICS.values()]


def leaves(group: Any, path: str = "bezmen") -> Iterator[tuple[str, Any]]:
    """Every command that does something, under its whole name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def spoken() -> list[tuple[str, ...]]:
    return [(f"`{name}`", first(command.help or "")) for name, command in leaves(typer.main.get_command(commands))]


def needed() -> dict[tuple[str, str], str]:
    """The scope of each route as it declares it itself; "" where it declares none, as what is everybody's or takes a token of its own kind."""
    return {(route.method, route.path): ", ".join(sorted(call.scope for call in route.declared if isinstance(call, Needs))) for route in ROUTES}


def served() -> list[tuple[str, ...]]:
    """Every operation of the OpenAPI document with its scope."""
    scopes = needed()
    paths = create_app(Settings()).openapi()["paths"]
    listed = [(path, method.upper(), operation) for path, item in paths.items() for method, operation in item.items()]
    return [
        (f"`{method} {path}`", scopes[method, path], first(operation.get("description", "")))
        for path, method, operation in sorted(listed, key=lambda each: (each[0], METHODS.index(each[1])))
    ]


def reference() -> str:
    return "\n".join(
        [
            HEAD,
            "## Figures\n",
            "The page *Methodology* of a service has each of them under `/methodology#ID`, with unit and direction.",
            "D tokens drafted, V kept, A of those delivered, R rounds with a draft, U steps without one, P tokens of the prefill, E delivered.\n",
            table(("figure", "what it answers", "formula", "also printed as"), figures()),
            "\n## Commands\n",
            "`bezmen COMMAND --help` says every option.\n",
            table(("command", "what it does"), spoken()),
            "\n## Routes\n",
            "A token must have the scope. Where none is named a route is everybody's, or takes the token of an attempt or of an enrolment.\n",
            table(("route", "scope", "what it does"), served()),
            "",
        ]
    )


if __name__ == "__main__":
    FILE.write_text(reference(), encoding="utf-8")
