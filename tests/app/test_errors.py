"""Problems."""

import json

import pytest
from pydantic import ValidationError

from app.domain.spec import RunSpec
from app.errors import REFUSALS, AppError, InvalidInput, did_you_mean, pointer, render
from tests import factories


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("ngarm", ["ngram", "layerskip"], 'There is no drafter "ngarm". Did you mean ngram?'),
        ("zzz", ["ngram", "layerskip"], 'There is no drafter "zzz". Known: layerskip, ngram.'),
        ("zzz", [], 'There is no drafter "zzz". None is known.'),
    ],
)
def test_did_you_mean(name: str, known: list[str], said: str) -> None:
    """Catches a guess that is far off, and a list that is empty."""
    assert did_you_mean("drafter", name, known) == said


def test_pointers_are_escaped() -> None:
    """Catches a pointer that names another field (RFC 6901)."""
    assert pointer(["a/b", "c~d", 0]) == "/a~1b/c~0d/0"


def test_errors_of_a_value_parsed_elsewhere() -> None:
    """Catches a form whose errors read differently from the API's."""
    body = factories.spec_body()
    del body["tokenizer"]
    with pytest.raises(ValidationError) as caught:
        RunSpec.model_validate(body)
    error = InvalidInput.of(caught.value.errors())
    assert error.problem()["errors"] == [{"pointer": "/tokenizer", "detail": REFUSALS["/tokenizer"]}]
    assert error.detail == REFUSALS["/tokenizer"]


def test_every_error_has_a_title_and_a_status() -> None:
    """Catches a problem without words: the class docstring is its title."""
    kinds = [AppError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert [kind.__name__ for kind in kinds if not kind.__doc__ or not 400 <= kind.status < 600] == []
    assert len({kind.slug() for kind in kinds}) == len(kinds)


def test_text_without_utf8_is_rendered() -> None:
    """Catches a crash inside the error handler over a name that it quotes."""
    assert json.loads(bytes(render({"status": 422, "detail": "Жук \ud800"}).body).decode())["detail"].startswith("Жук")
