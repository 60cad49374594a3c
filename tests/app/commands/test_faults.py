"""What a person types wrong is answered with one sentence and status 2, before anything is sent."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import commands
from app.settings import Settings, default_data

NOWHERE = "http://127.0.0.1:1"


def said(arguments: list[str], folder: Path, **over: str) -> tuple[int, str]:
    environment = {"BEZMEN_DATA": str(folder), "BEZMEN_URL": NOWHERE, "DATABASE_URL": None, "BEZMEN_PORT": None, "BEZMEN_TOKEN": None} | over
    result = CliRunner().invoke(commands, arguments, env=environment)
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, result.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["@/nope"], "the spec cannot be read from /nope: No such file or directory"),
        (["@/"], "the spec cannot be read from /: Is a directory"),
        (["{"], "the spec is no JSON"),
        (["[" * 100_000], "the spec is nested too deeply"),
        (["--margin", "nan"], "/margin is not finite"),
        (["--temperature", "inf"], "/sampling/temperature is not finite"),
        (['{"a": [0, NaN]}'], "/a/1 is not finite"),
        (["--drafter-param", "x=1e999"], "/drafter/params/x is not finite"),
        (["--verifier-param", "x=1e999"], "/verifier/params/x is not finite"),
        (["{}", "--idempotency-key", "a\nb"], "an idempotency key is one line"),
        (["{}", "--idempotency-key", ""], "an idempotency key is one line"),
        (["{}", "--idempotency-key", "ё" * 128], "1 to 255 bytes"),
        (["{}", "--label", "метка"], "a parameter is NAME=VALUE; this was метка"),
        (["{}", "--label", "метка=1"], "NAME is 1 to 64 of A-Z, a-z, 0-9, dot, underscore and hyphen"),
    ],
)
def test_arguments_that_cannot_be(arguments: list[str], sentence: str, tmp_path: Path) -> None:
    """Catches a stack trace for a typing error."""
    status, error = said(["submit", *arguments], tmp_path)
    assert (status, error.count("\n")) == (2, 1)
    assert sentence in error


@pytest.mark.parametrize(
    ("over", "sentence"),
    [
        ({"BEZMEN_TOKEN": "ключ"}, "BEZMEN_TOKEN holds no token"),
        ({"BEZMEN_TOKEN": "a\nb"}, "BEZMEN_TOKEN holds no token"),
        ({"BEZMEN_PORT": "abc"}, "BEZMEN_PORT cannot be abc"),
        ({"BEZMEN_PORT": "99999"}, "BEZMEN_PORT cannot be 99999: it should be less than or equal to 65535."),
        ({"BEZMEN_URL": "foo"}, "BEZMEN_URL cannot be foo"),
    ],
)
@pytest.mark.parametrize("arguments", [["submit", "{}"], ["wait", "1"]])
def test_variables_that_cannot_be(arguments: list[str], over: dict[str, str], sentence: str, tmp_path: Path) -> None:
    """Catches a stack trace, or a minute of waiting, over a variable."""
    status, error = said(arguments, tmp_path, **over)
    assert (status, error.count("\n")) == (2, 1)
    assert sentence in error


@pytest.mark.parametrize("arguments", [["serve"], ["token", "list"], ["db", "migrate"], ["demo", "--exit"]])
@pytest.mark.parametrize(("address", "sentence"), [("garbage", "is no address of a database"), ("mysql://u:geheim@h/d", "of kind mysql")])
def test_databases_that_cannot_be(arguments: list[str], address: str, sentence: str, tmp_path: Path) -> None:
    """Catches a stack trace over DATABASE_URL, and one that prints its password."""
    status, error = said(arguments, tmp_path, DATABASE_URL=address)
    assert (status, error.count("\n")) == (2, 1)
    assert sentence in error
    assert "geheim" not in error


@pytest.mark.parametrize("arguments", [["{}", "--idempotency-key", "ключ"], ["{}", "--label", "rack=7"], ["{}", "--stop", "\udcff"]])
def test_arguments_that_can_be(arguments: list[str], tmp_path: Path) -> None:
    """Catches a check that refuses what the service takes: here it is sent, and nobody answers."""
    status, error = said(["submit", *arguments], tmp_path)
    assert (status, "No service answers" in error) == (3, True)


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches data that is kept in whatever folder a script happens to run in."""
    for name in ("BEZMEN_DATA", "BEZMEN_PORT", "DATABASE_URL"):
        monkeypatch.setenv(name, "")
    settings = Settings()
    assert (settings.data, settings.port, settings.embedded) == (default_data(), 8000, True)
