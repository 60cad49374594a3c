"""The methodology page's table of coverages."""

import pytest

from app.web.coverage import coverage


@pytest.mark.parametrize(("locale", "percent", "simulations"), [("en", "%", "8,000"), ("ru", "\u00a0%", "8\u00a0000")])
def test_the_table_says_what_was_measured(locale: str, percent: str, simulations: str) -> None:
    """Catches a cell under another column's head, and one without a number shown as 0."""
    shown = coverage(locale)
    assert shown.simulations == simulations
    assert shown.noises == tuple(f"{noise}{percent}" for noise in (0, 3, 10))
    assert len(shown.rows) == 12
    for row in shown.rows:
        assert len(row.covered) == 3
        for share in row.covered:
            if (row.load, row.prompts) == (4, 8):
                assert share is None
            else:
                assert share is not None
                assert share.startswith("9")
                assert share.endswith(percent)
