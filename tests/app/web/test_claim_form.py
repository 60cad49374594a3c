"""The form for a published figure."""

import pytest

from app.web.claim_form import WRONG, read

TYPED = {
    "system": "EAGLE-3",
    "quantity": "acceptance",
    "figure": "α",
    "value": "0,8",
    "upto": "",
    "language": " ru ",
    "source": "its authors",
    "note": "",
}


def test_an_empty_field_says_nothing() -> None:
    """Catches an empty language that is stored as one, and a decimal comma that is refused."""
    claim, errors = read(TYPED)
    assert errors == {}
    assert claim is not None
    assert (claim.value, claim.upto, claim.language, claim.tokenizer, claim.note) == (0.8, None, "ru", None, None)


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"value": ""}, "value"),
        ({"value": "80 %"}, "value"),
        ({"value": "80"}, "value"),
        ({"value": "nan"}, "value"),
        ({"upto": "0.7"}, "upto"),
        ({"language": "und"}, "language"),
        ({"address": "http://example.org"}, "address"),
        ({"published": "yesterday"}, "published"),
        ({"source": " "}, "source"),
        ({"quantity": "happiness"}, "quantity"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(typed: dict[str, str], field: str) -> None:
    """Catches an error without a place, and a number that nobody can mean."""
    assert read(TYPED | typed) == (None, {field: WRONG[field]})


def test_fields_of_others_are_not_read() -> None:
    """Catches a form that writes what only the service may: who entered a claim, or that it is not refused."""
    claim, _ = read(TYPED | {"entered_by": "somebody", "refused": "false", "low": "0.7"})
    assert claim is not None
    assert {"entered_by", "refused", "low"}.isdisjoint(claim.model_dump())
