"""The form for a published figure, read into a claim or into sentences at its fields."""

from collections.abc import Mapping

from pydantic import ValidationError

from app.claims.schemas import ClaimIn
from app.reports.words import mark

# What is said at a field that cannot be read, whatever is wrong with it.
WRONG: dict[str, str] = {
    "system": mark("Enter a system of the board by its name; for a new one choose its kind too."),
    "kind": mark("Choose what kind of system it is."),
    "quantity": mark("Choose what the figure says."),
    "figure": mark("Enter what the source calls this figure, in at most 200 characters."),
    "definition": mark("Enter the id of a figure of the methodology page, such as acceptance_rate, or leave it empty."),
    "value": mark("Enter the figure as a number; an acceptance as a share of 1, so 0.8 for 80%."),
    "upto": mark("Enter the upper end of a range, above the figure, or leave it empty."),
    "language": mark("Enter a language tag such as ru or en, or leave it empty."),
    "address": mark("Enter an address that begins with https://, or leave it empty."),
    "published": mark("Enter a date, or leave it empty."),
    "source": mark("Enter who published the figure, in at most 200 characters."),
    "drafter": mark("Enter the name of a drafter of this service, or leave it empty."),
}
OTHER = mark("This may have at most 200 characters.")


def read(typed: Mapping[str, str]) -> tuple[ClaimIn | None, dict[str, str]]:
    """A claim, or {field: sentence}; an empty field says nothing, and a decimal comma is a decimal point."""
    given = {name: text.strip() for name, text in typed.items() if name in ClaimIn.model_fields and text.strip()}
    given |= {name: given[name].replace(",", ".") for name in ("value", "upto") if name in given}
    try:
        return ClaimIn.model_validate(given), {}
    except ValidationError as error:
        return None, dict(_place(one) for one in error.errors())


def _place(error: object) -> tuple[str, str]:
    assert isinstance(error, dict)
    # A rule over several fields names none; both of ours are about numbers.
    field = str(error["loc"][0]) if error["loc"] else "upto" if "range" in error["msg"] else "value"
    return field, WRONG.get(field, OTHER)


def sentence(field: str) -> str:
    return WRONG.get(field, OTHER)
