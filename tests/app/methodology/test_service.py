"""The methodology as programs read it."""

from app.methodology.service import definitions, methodology
from app.metrics.catalogue import METRICS
from app.statistics.rates import over_machines, over_texts


def test_every_figure_has_its_formula() -> None:
    """Catches a figure that the page explains and the API does not."""
    found = definitions()
    assert [each.id for each in found] == list(METRICS)
    assert all(each.formula and each.name != each.id for each in found)


def test_the_gates_are_those_of_the_page() -> None:
    """Catches a rate that is left out, and a limit that another place has with another number."""
    found = methodology()
    assert len(found.over_texts) == len(over_texts()["rates"])
    assert len(found.over_machines) == len(over_machines()["rates"])
    assert (found.limits.tolerated, found.limits.fair_baseline, found.limits.letters) == (0.1, 0.1, 40)
    assert all(rate.low <= rate.flagged / rate.n <= rate.high for rate in (*found.over_texts, *found.over_machines))
