"""The snippets of both READMEs for build servers: they load, and every command in them is one that there is."""

import json
import re
import shlex
import time
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from app.cli import commands
from app.hooks.signature import signature

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.ru.md")


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return [body for named, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE) if named == language]


def scripts(value: Any) -> list[str]:
    """Every shell script inside a pipeline."""
    if isinstance(value, dict):
        found = [text for name in ("run", "script", "after_script") if name in value for text in _lines(value[name])]
        return found + [text for name, item in value.items() if name not in {"run", "script", "after_script"} for text in scripts(item)]
    return [text for item in value for text in scripts(item)] if isinstance(value, list) else []


def _lines(value: str | list[str]) -> list[str]:
    return [line for text in ([value] if isinstance(value, str) else value) for line in text.splitlines()]


def bezmens(lines: list[str]) -> list[list[str]]:
    """The arguments of each `bezmen` command; a variable stands for a number."""
    found = [command for line in lines for command in re.findall(r"\bbezmen ((?:submit|wait|compare|gate)[^)#>]*)", line)]
    return [shlex.split(re.sub(r"\$\{\{.*?\}\}|\$\w+", "7", command)) for command in found]


@pytest.mark.parametrize("name", READMES)
def test_snippets_load_and_their_commands_are_ours(name: str) -> None:
    """Catches YAML that no build server reads, and an option that was renamed everywhere but in the README."""
    pipelines = [yaml.safe_load(block) for block in blocks(name, "yaml")]
    github, gitlab = (each for each in pipelines if "jobs" in each or "speculation" in each)
    # YAML 1.1 reads `on` as true.
    assert github[True] == ["pull_request"]
    assert gitlab["speculation"]["allow_failure"] == {"exit_codes": [4]}
    plain = [line for block in blocks(name, "") for line in block.splitlines()]
    group = typer.main.get_command(commands)
    for source, least in ((scripts(github), 2), (scripts(gitlab), 2), (plain, 5)):
        given = bezmens(source)
        assert len(given) >= least, source
        for first, *arguments in given:
            # Raises a usage error for whatever this command does not take.
            group.commands[first].make_context(first, list(arguments))  # type: ignore[attr-defined]


def test_both_languages_show_the_same_snippets() -> None:
    """Catches a snippet that was mended in one README alone."""
    assert [yaml.safe_load(block) for block in blocks("README.md", "yaml")] == [yaml.safe_load(block) for block in blocks("README.ru.md", "yaml")]


def test_the_check_of_signatures_that_the_readme_shows() -> None:
    """Catches a receiver's code that takes forged or old deliveries, or refuses ours."""
    (code,) = [block for block in blocks("README.md", "python") if "genuine" in block]
    names: dict[str, Any] = {}
    exec(code, names)
    body, now = json.dumps({"run": 1}).encode(), int(time.time())
    genuine = names["genuine"]
    assert genuine("bzw_x", signature("bzw_x", now, body), body)
    assert not genuine("bzw_y", signature("bzw_x", now, body), body)
    assert not genuine("bzw_x", signature("bzw_x", now, body), body + b" ")
    assert not genuine("bzw_x", signature("bzw_x", now - 3600, body), body)
