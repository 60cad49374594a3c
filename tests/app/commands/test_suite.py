"""`bezmen suite check` says where a file is wrong before anybody measures with it."""

import json
from pathlib import Path

from typer.testing import CliRunner

from app.commands.suite import app
from app.domain.suite import parse

LINE = {"id": "a-ru", "parallel": "a", "language": "ru", "profile": "chat", "answer": "prompt", "text": "Как дела?"}


def written(folder: Path, *lines: dict[str, object], name: str = "mine-v1.jsonl") -> Path:
    file = folder / name
    file.write_text("\n".join(json.dumps(line) for line in lines))
    return file


def test_a_good_file(tmp_path: Path) -> None:
    """Catches a digest that the service would not give, and a lone prompt without a word."""
    file = written(tmp_path, LINE, LINE | {"id": "a-en", "language": "en"}, LINE | {"id": "b-en", "parallel": "b", "language": "en"})
    found = CliRunner().invoke(app, ["check", str(file)])
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines()[0] == f"mine-v1 {parse('mine-v1', file.read_bytes())[0].digest}"
    assert "en: 2 prompts (chat 2)" in found.stdout
    assert "warning: line 3, parallel: This prompt has no twin in ru" in found.stderr


def test_a_wrong_file(tmp_path: Path) -> None:
    """Catches a traceback, status 0, and a fault without its line."""
    found = CliRunner().invoke(app, ["check", str(written(tmp_path, LINE, LINE | {"answer": "x"}))])
    assert found.exit_code == 2
    assert "line 2, answer: Write" in found.stderr
    unnamed = CliRunner().invoke(app, ["check", str(written(tmp_path, LINE, name="mine.jsonl"))])
    assert (unnamed.exit_code, "named like parallel-v1" in unnamed.stderr) == (2, True)
    missing = CliRunner().invoke(app, ["check", str(tmp_path / "none-v1.jsonl")])
    assert (missing.exit_code, "cannot be read" in missing.stderr) == (2, True)
