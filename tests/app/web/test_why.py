"""The block that says why: needed beside had, foretold beside measured."""

from typing import Any

from app.reports.build import build
from app.reports.shown import Shown, find
from app.web.why import why
from tests.app.metrics.test_costs import cost
from tests.app.web.test_macros import macro
from tests.factories import record


def test_needed_stands_beside_had() -> None:
    """Catches columns that are swapped, and costs of another shape than the usual one."""
    measured = record()
    drafts = {n for fact in measured.requests for n in fact.round_drafted}
    usual = max(drafts)
    staged = [
        (cost("draft", n, 0.1 * n, times=50 if n == usual else 5), cost("verify", n, 2 + 0.1 * n, times=50 if n == usual else 5)) for n in drafts
    ]
    report = build(measured.model_copy(update={"costs": (cost("step", 0, 2.0), *(each for pair in staged for each in pair))}))
    rows: Any = why(report, "en").rows
    assert [str(row[0]).endswith(f"{usual} drafts") for row in rows[:2]] == [True, True]
    ids = [[cell.id for cell in row[1:] if isinstance(cell, Shown)] for row in rows]
    assert ids == [["draft_cost"], ["verify_cost"], ["break_even_acceptance", "acceptance_rate"], ["predicted_speedup", report.headline]]


def test_without_a_profile_there_is_no_block() -> None:
    assert why(build(record()), "ru").rows == ()


def test_the_page_prints_both() -> None:
    """Catches a block whose template drops the number or its reason for having no interval."""
    measured = record()
    drafts = {n for fact in measured.requests for n in fact.round_drafted}
    staged = [fact for n in drafts for fact in (cost("draft", n, 0.1 * n), cost("verify", n, 2 + 0.1 * n))]
    report = build(measured.model_copy(update={"costs": (cost("step", 0, 2.0), *staged)}))
    text = macro("table(found, 'why')", "en", found=why(report, "en"))
    for id in ("predicted_speedup", report.headline, "break_even_acceptance", "acceptance_rate"):
        shown = find(report, id, "en")
        assert shown.value
        assert shown.value in text
