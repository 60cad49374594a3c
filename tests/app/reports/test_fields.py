"""The passport's fields in words."""

import pytest

from app.domain.passport import Passport
from app.domain.sentence import plain
from app.reports.fields import NAMES, field_name, field_value
from app.reports.format import say


def test_every_field_has_a_name() -> None:
    """Catches a new field of the passport that a Russian comparison calls by its id."""
    assert set(Passport.model_fields) <= set(NAMES)


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("load", "closed 4", "замкнутая 4"),
        ("load", "open 0.7/s burstiness 0.5 slots 1", "открытая 0,7/с, параметр формы 0,5, мест 1"),
        ("sampling", "temperature 0.7, seed 1", "температура 0,7, зерно 1"),
        ("compile", "false", "нет"),
        ("revision", "none", "нет"),
        ("target", "open", "open"),
        ("answer_language", "en 75%, und 25%", "en 75\u00a0%, und 25\u00a0%"),
        ("revision", "0.1.2", "0.1.2"),
    ],
)
def test_values_of_ours_are_words(field: str, text: str, said: str) -> None:
    """Catches a name or a version that is translated, and a word of ours that is not."""
    assert field_value(field, text, "ru") == said
    assert field_name(field, "ru") != field


def test_a_sentence_names_field_and_values() -> None:
    """Catches an id of the passport inside a Russian sentence."""
    asked = plain("Speed is not contrasted: %(field)s differs (%(first)s, %(second)s).", field="compile", first="true", second="false")
    assert "скомпилированные проходы" in say(asked, "ru")
    assert "(да; нет)" in say(asked, "ru")
