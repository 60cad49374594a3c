"""The bar that costs set, beside the acceptance that was had."""

from typing import Any

import pytest

from app.domain.estimate import Figure, Refusal
from app.reports.build import build
from app.reports.figures import economics
from app.reports.report import Report
from app.reports.shown import Shown, find
from tests.app.metrics.test_costs import cost
from tests.factories import record
from tests.factories_load import load_record


def report(verify: float = 0.1, *, draft: float = 0.02, **over: Any) -> Report:
    """A plain step is 1 s; n drafts take draft · n to propose and 1 + verify · n to verify, so that the bar is draft + verify at any n."""
    staged = [each for n in range(1, 5) for each in (cost("draft", n, draft * n), cost("verify", n, 1 + verify * n))]
    return build(record(**over).model_copy(update={"costs": (cost("step", 0, 1.0), *staged)}))


def drawn(found: Report) -> Any:
    plot = economics.build(found, "en")
    assert plot.figure is not None
    return plot.figure


def test_the_bar_is_the_figure() -> None:
    """Catches a plot with a formula of its own: at n̄ and at every profiled length the bar is what the definition says."""
    found = report(0.1)
    assert found.economics is not None
    cell = found.find("break_even_acceptance")
    assert isinstance(cell, Figure)
    assert found.economics.mean.needed == cell.pooled.point == pytest.approx(0.12)
    assert [bar.drafts for bar in found.economics.bars] == [1, 2, 3, 4]
    assert [bar.needed for bar in found.economics.bars] == pytest.approx([0.12] * 4)
    requests = [fact for fact in record().requests if fact.arm == "speculative"]
    assert found.economics.mean.drafts == pytest.approx(sum(fact.drafted for fact in requests) / sum(fact.rounds for fact in requests))


@pytest.mark.parametrize(("verify", "words", "filled"), [(0.02, "above the bar: ", True), (0.95, "below the bar: −", True)])
def test_the_gap_is_decided_by_its_interval(verify: float, words: str, filled: bool) -> None:
    """Catches a point that is called above a bar which its interval does not clear, and a mark that says otherwise than the words."""
    plot = economics.build(report(verify, acceptance=0.6), "en")
    assert words in plot.finding
    assert "pp" in plot.finding
    assert plot.finding in plot.caption
    assert plot.figure is not None
    assert plot.figure["data"][-1]["marker"]["symbol"].endswith("open") is not filled


def test_a_bar_inside_the_interval_decides_nothing() -> None:
    """Catches a side that is taken where the interval holds the bar."""
    loose = report(0.1, acceptance=0.6)
    assert loose.economics is not None
    accepted = loose.find("acceptance_rate")
    assert isinstance(accepted, Figure)
    assert accepted.pooled.point is not None
    found = report(accepted.pooled.point - 0.03, acceptance=0.6)
    plot = economics.build(found, "en")
    assert "within the interval" in plot.finding
    assert drawn(found)["data"][-1]["marker"]["symbol"] == "circle-open"


def test_what_cannot_pay_is_not_drawn_on_the_scale() -> None:
    """Catches a bar beyond 100 % that is drawn at 100 %, as if it could be reached."""
    found = report(1.5)
    plot = economics.build(found, "en")
    assert "Cannot pay at any acceptance" in plot.finding
    assert [trace["mode"] for trace in drawn(found)["data"]] == ["markers"]
    assert "no acceptance would suffice" in [each["text"] for each in drawn(found)["layout"]["annotations"]]


def test_free_rounds_need_nothing() -> None:
    """Catches a bar below 0 that is printed as an acceptance."""
    plot = economics.build(report(-0.1), "en")
    assert "Any acceptance would do" in plot.finding
    assert plot.figure is not None
    assert "any acceptance would do" in [each["text"] for each in plot.figure["layout"]["annotations"]]


def test_costs_against_the_clock_are_named() -> None:
    """Catches a plot that says "above the bar" beside a verdict "does not pay", and says nothing of it."""
    # A round of the made facts takes 1.6 steps by the clock, whatever these costs say.
    found = report(0.01, draft=0.0, acceptance=0.12, prompts=24)
    assert found.verdict.outcome == "does not pay"
    plot = economics.build(found, "en")
    assert "The clock says otherwise" in plot.caption
    assert find(found, found.headline, "en").value in plot.caption
    assert "The clock" not in economics.build(report(0.95, acceptance=0.12, prompts=24), "en").caption


def test_the_table_holds_what_is_drawn() -> None:
    """Catches a twin that leaves out the bar, the acceptance or a length."""
    found = report()
    table = economics.build(found, "en").table
    assert len(table.rows) == 5
    first: Any = table.rows[0]
    assert [cell.id for cell in first if isinstance(cell, Shown)] == ["break_even_acceptance", "acceptance_rate"]
    assert [row[0] for row in table.rows[1:]] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_without_costs_it_says_why(locale: str) -> None:
    """Catches an empty frame, and a refused acceptance that a plot shows after all."""
    bare = economics.build(build(record()), locale)
    assert bare.figure is None
    assert bare.empty == find(build(record()), "break_even_acceptance", locale).why
    refused = report(degenerate=True, repeated_share=0.9)
    assert isinstance(refused.find("acceptance_rate"), Refusal)
    assert refused.economics is None
    plot = economics.build(refused, locale)
    assert (plot.figure, plot.table.rows) == (None, ())
    assert plot.empty == find(refused, "acceptance_rate", locale).why


def test_costs_are_of_the_batch_that_occurred() -> None:
    """Catches the costs of one sequence drawn for a run of several at once."""
    loaded = load_record()
    slots = max(n for fact in loaded.requests for n in fact.round_slots)
    staged = [each for n in range(1, 9) for each in (cost("draft", n, 0.1, sequences=slots), cost("verify", n, 2.0, sequences=slots))]
    only_one = (cost("step", 0, 1.0), cost("draft", 4, 9.0), cost("verify", 4, 9.0))
    found = build(loaded.model_copy(update={"costs": (cost("step", 0, 1.0, sequences=slots), *staged, *only_one)}))
    assert found.economics is not None
    assert found.economics.sequences == slots
    assert {bar.verify_cost for bar in found.economics.bars} == {2.0}
