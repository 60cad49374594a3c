"""Formulas in the language of the page."""

from dataclasses import replace

import pytest

from app.metrics.base import Metric
from app.metrics.catalogue import METRICS
from app.web.formulas import formula_of, printed_of
from tests.latin import words


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_formula_is_in_the_language_of_its_page(metric: Metric) -> None:
    """Catches a figure whose formula has no Russian: its words are ours; symbols, functions and names of facts are everybody's."""
    assert formula_of(metric, "en") == metric.formula
    assert [word for word in words(formula_of(metric, "ru")) if len(word) > 3 and "_" not in word] == []
    assert "courses" not in printed_of(metric, "ru")


def test_a_figure_under_no_other_name_has_none() -> None:
    """Catches the head of the catalogue of words in place of nothing: that is what an empty msgid asks for."""
    assert printed_of(replace(METRICS["accepted_share"], also_printed_as=""), "ru") == ""
