"""`make engines`: which engines it makes, and what it says of one that it cannot make."""

import sys
from pathlib import Path

import pytest

from runners.engine.external import build
from runners.engine.external.aliases import read_engines
from runners.engine.external.made import llama_cpp, vllm
from runners.engine.external.made.cache import CannotBuild


def test_what_it_prints_is_a_file_of_engines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Catches a snippet that a runner does not read."""
    monkeypatch.setattr(llama_cpp, "make", lambda: tmp_path / "llama-server")
    monkeypatch.setattr(vllm, "make", lambda: tmp_path / "bin" / "python")
    assert build.build(["llama.cpp", "vllm"]) == 0
    file = tmp_path / "engines.toml"
    file.write_text(capsys.readouterr().out.partition("\n\n")[2])
    assert [alias.kind for alias in read_engines(file).engines.values()] == ["llama.cpp", "vllm"]


def test_one_that_cannot_be_made_keeps_no_other_from_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def lacking() -> Path:
        raise CannotBuild("no compiler")

    monkeypatch.setattr(llama_cpp, "make", lacking)
    monkeypatch.setattr(vllm, "make", lambda: tmp_path)
    assert build.build(["llama.cpp", "vllm"]) == 1
    said = capsys.readouterr().out
    assert "[engines.vllm]" in said
    assert said.endswith("llama.cpp was not made: no compiler\n")


def test_an_engine_that_is_not_made_here_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["build", "sglang"])
    with pytest.raises(SystemExit):
        build.main()
    assert "sglang is not made here; there are llama.cpp and vllm" in capsys.readouterr().err
