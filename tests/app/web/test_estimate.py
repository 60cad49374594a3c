"""How long, in words."""

import pytest

from app.campaigns.forecast import NEVER, Expected
from app.web.estimate import about, estimate, reckoned
from app.web.pages.submit import form_key, problems
from tests.factories import run_spec


@pytest.mark.parametrize(
    ("seconds", "en", "ru"),
    [(3, "10 s", "10 с"), (64, "1 min", "1 мин"), (97, "1 min 40 s", "1 мин 40 с"), (354, "6 min", "6 мин"), (7260, "2 h 1 min", "2 ч 1 мин")],
)
def test_no_more_digits_than_a_forecast_has(seconds: float, en: str, ru: str) -> None:
    """Catches seconds of a time that is a guess of minutes, and a forecast of 0."""
    assert about(seconds, "en").replace("\u00a0", " ") == en
    assert about(seconds, "ru").replace("\u00a0", " ") == ru


def test_a_time_names_its_runner_and_what_it_rests_on() -> None:
    found = Expected(runner="local", seconds=354, runs=5)
    assert estimate(4, found, "en").replace("\u00a0", " ") == "4 runs, about 6 min on local"
    assert "5\u00a0runs measured on local" in reckoned(found, "en")


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_an_unknown_time_has_a_reason(locale: str) -> None:
    """Catches minutes out of nothing, and silence."""
    found = Expected(runner="gpu-1", unknown=NEVER)
    assert estimate(4, found, locale).startswith("4\u00a0")
    assert "gpu-1" not in estimate(4, found, locale)
    assert "gpu-1" in reckoned(found, locale)


def test_a_changed_form_is_another_order() -> None:
    """Catches a Back and a change that are refused as the same order, and a second click that is a second run."""
    one, other = run_spec(), run_spec(max_new_tokens=64)
    assert form_key("n", "t", [one]) == form_key("n", "t", [one])
    keys = {form_key("n", "t", [one]), form_key("n", "t", [other]), form_key("n", "t", [one, other]), form_key("m", "t", [one])}
    assert len(keys | {form_key("n", "u", [one])}) == 5
    assert form_key("", "t", [one]) != form_key("", "t", [one])
    assert len(form_key("x" * 10_000, "t", [one])) < 255


def test_an_error_leads_to_a_field_that_is_there() -> None:
    """Catches a link of the summary that leads nowhere, and an error of a part that the form does not have said without its name."""
    found = problems({"language": "Enter it.", "sampling": "Wrong.", "": "Too many."}, [])
    assert sorted(found) == [("", "Too many."), ("", "sampling: Wrong."), ("language", "Enter it.")]
