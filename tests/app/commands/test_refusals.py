"""What a terminal shows of an answer that refuses."""

import httpx
import pytest
import typer

from app.commands import client


def said(capsys: pytest.CaptureFixture[str], body: dict[str, object]) -> list[str]:
    with pytest.raises(typer.Exit):
        client._read(httpx.Response(422, json=body))
    return capsys.readouterr().err.splitlines()


def test_a_wrong_field_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches one mistake that reads like two: the sentence names the first field, and all are listed below it."""
    first, second = ({"pointer": f"/{name}", "detail": f"{name} is wrong"} for name in ("language", "load"))
    assert said(capsys, {"detail": "/language: language is wrong", "errors": [first]}) == ["/language: language is wrong"]
    assert said(capsys, {"detail": "/language: language is wrong (1 more)", "errors": [first, second]}) == [
        "/language: language is wrong (1 more)",
        "  /load: load is wrong",
    ]
