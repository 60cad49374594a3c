"""`bezmen zoo`: what it says of the models that are there, and what it refuses."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.commands.zoo import app


def test_the_list_says_what_each_model_learnt_from() -> None:
    """Catches a record that the command does not understand, and a model that is told of in one of both ways alone."""
    said, told = CliRunner().invoke(app, ["list"]).stdout, json.loads(CliRunner().invoke(app, ["list", "--json"]).stdout)
    assert [each["name"] for each in told] == ["dense", "moe", "parallel", "sequential"]
    assert all(f"zoo:{each['name']}: {each['summary']}" in said for each in told)
    assert said.count("tokens in") == sum(each["record"] is not None for each in told)
    assert "perplexity en " in said


def test_what_cannot_be_trained_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Catches a trace where a name is misspelt, and where there is no Debian to take text from."""
    monkeypatch.setenv("BEZMEN_DATA", str(tmp_path))
    assert CliRunner().invoke(app, ["train", "dens"]).exit_code == 2
    assert capfd.readouterr().err.strip() == "the zoo has no 'dens'; it has dense, moe, parallel, sequential"
    monkeypatch.setenv("PATH", "")
    assert CliRunner().invoke(app, ["train", "dense"]).exit_code == 2
    said = capfd.readouterr().err
    assert "apt-get" in said
    assert "Traceback" not in said
    assert not (tmp_path / "zoo" / "dense").exists()


def test_a_folder_that_takes_nothing_is_said_before_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Catches a place that turns out to be none when everything has been learnt."""
    monkeypatch.setenv("BEZMEN_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    (taken := tmp_path / "taken").write_text("")
    assert CliRunner().invoke(app, ["train", "dense", "--into", str(taken)]).exit_code == 2
    assert capfd.readouterr().err.strip() == f"Nothing can be written into {taken}: File exists. Name another folder with --into."
