"""Both READMEs against the code that they speak of."""

import os
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main

from app.cli import commands
from app.domain.outside.versions import shapes
from app.imports.open import FORMATS
from app.settings import Settings
from runners.engine.external.aliases import KINDS, read_engines
from tests import reference

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.ru.md")
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in READMES}


def blocks(name: str) -> list[tuple[str, str]]:
    """Language and text of every code block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", TEXTS[name], re.DOTALL | re.MULTILINE)


def example(name: str, has: str) -> str:
    (found,) = [text for language, text in blocks(name) if language == "python" and has in text]
    return found


def without_comments(text: str) -> str:
    return "\n".join(re.sub(r"\s+# .*$", "", line) for line in text.splitlines())


def headings(name: str) -> list[str]:
    """Levels of the headings, in order."""
    outside = re.sub(r"^```.*?^```$", "", TEXTS[name], flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"^#+ ", outside, re.MULTILINE)


@pytest.mark.parametrize("name", READMES)
def test_every_command_in_a_code_block_is_one_that_there_is(name: str) -> None:
    """Catches an option or a command that was renamed everywhere but in the README."""
    lines = [line for language, text in blocks(name) if not language for line in without_comments(text).splitlines()]
    found = [found for line in lines for found in re.findall(r"\bbezmen ([^)#>|]+)", line) if "bezmen.json" not in line.split(found)[0]]
    given = [shlex.split(re.sub(r"\$\w+", "7", each)) for each in found if each.split()[0].isalpha()]
    assert len(given) >= 15
    for arguments in given:
        group: Any = typer.main.get_command(commands)
        while hasattr(group, "commands"):
            assert arguments[0] in group.commands, arguments
            group = group.commands[arguments.pop(0)]
        # Raises a usage error for whatever this command does not take.
        group.make_context("bezmen", list(arguments))


@pytest.mark.parametrize("name", READMES)
def test_every_target_of_make_that_is_named_is_there(name: str) -> None:
    """Catches `make` commands that end in "no rule"."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)", TEXTS[name])) | set(re.findall(r"^make ([a-z]+)", TEXTS[name], re.MULTILINE))
    assert {"demo", "test"} <= named <= targets


@pytest.mark.parametrize("name", READMES)
def test_every_setting_has_its_row(name: str) -> None:
    """Catches a setting that nobody can find, and a row of one that is gone."""
    fields = {"DATABASE_URL" if field == "database_url" else f"BEZMEN_{field.upper()}" for field in Settings.model_fields}
    rows = re.findall(r"^\| (`(?:BEZMEN_|DATABASE_)[^|]*)\|", TEXTS[name], re.MULTILINE)
    assert {found for row in rows for found in re.findall(r"`(\w+)`", row)} == fields


@pytest.mark.parametrize("name", READMES)
def test_every_format_of_imports_has_its_row(name: str) -> None:
    """Catches a format that nobody can find, and a row of one that is gone."""
    section = TEXTS[name].split("bezmen import after.txt")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*)\|", section, re.MULTILINE)
    assert {found for row in rows for found in re.findall(r"`([\w-]+)`", row)} == set(FORMATS)


@pytest.mark.parametrize("name", READMES)
def test_every_engine_has_its_row_with_the_versions_that_were_read(name: str) -> None:
    """Catches an engine that nobody can find, a version that was read anew, and one that is said to have been run when nobody has."""
    rows = re.findall(r"^\| `([^`]+)` \|[^|]*\|([^|]*)\|([^|]*)\|$", TEXTS[name].split("\n<!-- engines -->\n")[1].split("\n## ")[0], re.MULTILINE)
    known = shapes()
    assert [kind for kind, *_ in rows] == list(dict.fromkeys(KINDS))
    assert {kind for kind, *_ in rows} == {shape.engine for shape in known}
    for kind, read, run in rows:
        own = [shape for shape in known if shape.engine == kind]
        assert [shape.read_from for shape in own if shape.read_from not in read] == []
        ran = {shape.run for shape in own if shape.run is not None}
        assert [each for each in ran if each not in run] == []
        assert (run.strip() in ("not yet", "ещё нет")) == (not ran), kind


@pytest.mark.parametrize("name", READMES)
def test_the_file_of_engines_is_one(name: str, tmp_path: Path) -> None:
    """Catches a key that a runner does not know any more."""
    (text,) = [text for language, text in blocks(name) if language == "toml"]
    file = tmp_path / "engines.toml"
    file.write_text(text, encoding="utf-8")
    assert {alias.kind for alias in read_engines(file).engines.values()} == {"llama.cpp", "vllm", "sglang"}


@pytest.mark.parametrize("name", READMES)
def test_every_direct_dependency_has_its_reason(name: str) -> None:
    """Catches a package that came in without a word, and a word about one that went."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["runner"], *project["optional-dependencies"]["dev"]]
    needed = {re.split(r"[\[<>=]", each)[0] for each in wanted}
    rows = re.findall(r"^\| (?:\*\w+:\* )?([a-z0-9, -]+) \|", TEXTS[name].split("\n<!-- dependencies -->\n")[1].split("\n## ")[0], re.MULTILINE)
    assert {each.strip() for row in rows for each in row.split(",")} - {"package", ""} == needed


def test_the_reference_is_what_it_is_made_of() -> None:
    """Catches a figure, a command or a route that is not in the reference, or not as it is now."""
    assert reference.FILE.read_text(encoding="utf-8") == reference.reference(), "make reference"


@pytest.mark.parametrize("rows", [reference.figures(), reference.spoken(), reference.served()], ids=["figures", "commands", "routes"])
def test_everything_says_what_it_is(rows: list[tuple[str, ...]]) -> None:
    """Catches a row with nothing but a name: a route without a docstring, a command without help."""
    assert len(rows) > 20
    assert [row[0] for row in rows if not (row[2] if row[0].split()[0][1:] in reference.METHODS else row[1])] == []


def test_both_languages_have_the_same_sections_code_and_pictures() -> None:
    """Catches what was added or mended in one README alone."""
    english, russian = READMES
    assert headings(english) == headings(russian)
    assert [(language, without_comments(text)) for language, text in blocks(english)] == [
        (language, without_comments(text)) for language, text in blocks(russian)
    ]
    for of in (r"^\|(?:[^|]*\|)+$", r"^!\[", r"^- ", r"^\d+\. "):
        assert len(re.findall(of, TEXTS[english], re.MULTILINE)) == len(re.findall(of, TEXTS[russian], re.MULTILINE)), of


@pytest.mark.parametrize("name", READMES)
def test_what_is_linked_is_there(name: str) -> None:
    """Catches links to files and folders that were moved, and paths in the text that lead nowhere."""
    linked = re.findall(r"\]\(([^)#:]+)\)", TEXTS[name])
    paths = re.findall(r"`((?:app|runners|tests|benchmarks|migrations)/[\w/.]+)`", TEXTS[name])
    assert len(linked) >= 4
    assert [each for each in (*linked, *paths) if not (ROOT / each).exists()] == []


@pytest.mark.parametrize("name", [*READMES, "CHANGELOG.md", "CONTRIBUTING.md"])
def test_no_path_of_one_machine(name: str) -> None:
    """Catches commands that work where they were written alone."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.findall(r"(?<![\w.])/(?:home|work|root|tmp)/\S*|https?://(?!127\.0\.0\.1|HOST|bezmen\.example)[\w.]+", text) == []


def alone(code: str, *arguments: str, timeout: int = 240) -> subprocess.CompletedProcess[str]:
    """A Python of its own: what the examples add to packages must not stay."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def test_the_drafter_of_the_readme_passes_the_battery(tmp_path: Path) -> None:
    """Catches an example that is no drafter any more: the battery finds it as it would find a new file."""
    (tmp_path / "again.py").write_text(example("README.md", "class Again"))
    battery = """
        import sys
        import pytest
        import runners.drafters
        runners.drafters.__path__.append(sys.argv[1])
        some = "again and (toy or llama or rollback or unknown)"
        sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "tests/contracts/test_drafters.py", "-k", some]))
        """
    done = alone(battery, str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 50


def test_the_figure_of_the_readme_is_computed(tmp_path: Path) -> None:
    """Catches an example that is no figure any more: D = 10 over R = 3 of the request by hand, and the methodology page that shows it."""
    (tmp_path / "drafted_per_round.py").write_text(example("README.md", "drafted_per_round"))
    reading = """
        import sys
        import app.metrics.figures
        app.metrics.figures.__path__.append(sys.argv[1])
        from app.metrics.catalogue import points
        from app.web.pages.methodology import entries
        from tests.app.metrics.test_figures import BY_HAND
        from tests.factories import request_fact
        assert abs(points([request_fact(**BY_HAND)])["drafted_per_round"] - 10 / 3) < 1e-12
        assert any(entry.id == "drafted_per_round" for entry in entries("ru"))
        """
    done = alone(reading, str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
