"""The page of a run that ended badly: its end is said once, where a number would stand, and nowhere else."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.status import RunState
from app.reports.build import build
from app.reports.figures import fertility, forest, positions, profiles
from app.reports.format import say
from app.reports.record import RunRecord
from app.reports.words import outcome_of
from app.runs.schemas import RunSummary
from app.web.pages.run import view
from tests import factories


def ended(state: RunState, record: RunRecord) -> dict[str, Any]:
    report = build(record.model_copy(update={"state": state}))
    return view(RunSummary(id=1, state=state, spec=report.spec, created_at=datetime(2026, 1, 1, tzinfo=UTC), attempt=1), report, "en", "at")


@pytest.fixture(scope="module")
def nothing() -> RunRecord:
    return RunRecord(run=1, state=RunState.CANCELLED, spec=factories.run_spec())


@pytest.mark.parametrize("state", [RunState.CANCELLED, RunState.FAILED])
def test_a_run_without_a_number_has_no_plots_and_no_list(state: RunState, nothing: RunRecord) -> None:
    """Catches a dozen headings over the same sentence."""
    page = ended(state, nothing)
    assert page["plots"] == []
    assert page["figures"].rows == ()
    assert all(tile.shown.why for tile in page["tiles"])


@pytest.mark.parametrize("state", [RunState.CANCELLED, RunState.FAILED])
def test_what_a_run_measured_before_it_was_cut_off_is_refused_once(state: RunState) -> None:
    """Catches a speed-up, an acceptance or "same output" of a run that its service refused, and the reason under a dozen headings."""
    page = ended(state, factories.record(prompts=8, passes=4))
    assert page["plots"] == []
    assert page["figures"].rows == ()
    assert [tile.shown.state for tile in page["tiles"]] == ["refused"] * 4
    assert [tile.shown.why for tile in page["tiles"][1:]] == ["For the same reason."] * 3
    assert not any(tile.shown.value or tile.note for tile in page["tiles"])
    (refused,) = page["refused"]
    assert refused.field == "state"


@pytest.mark.parametrize(("retry", "remedy"), [(True, "Run it again to have its figures"), (False, "The same run would fail again: mend")])
@pytest.mark.parametrize("measured", [True, False])
def test_a_failure_is_told_once_and_its_remedy_is_one(retry: bool, remedy: str, measured: bool) -> None:
    """Catches "run it again" beside "a retry will fail again", and the runner's words a second time where the answer has said them."""
    finish = factories.finish_fact(outcome="failed", code="crashed", reason="The child died", retry_makes_sense=retry)
    record = factories.record(prompts=8, passes=4) if measured else RunRecord(run=1, state=RunState.FAILED, spec=factories.run_spec())
    page = ended(RunState.FAILED, record.model_copy(update={"finish": finish}))
    assert "The child died" in say(page["report"].answer)
    whys = [tile.shown.why for tile in page["tiles"]]
    assert whys[0] == "The run failed, for the reason above."
    assert not any("The child died" in why for why in whys)
    if measured:
        assert page["tiles"][0].shown.remedy.startswith(remedy)
        assert {say(cell.remedy).startswith(remedy) for cell in page["report"].cells} == {True}


def test_a_run_that_was_cut_off_names_the_acceptance_of_its_drafter() -> None:
    """Catches "acceptance of tree nodes" of an n-gram drafter, because all figures of the run are refused alike."""
    tree = {"name": "tree-topk", "params": {"of": "layerskip"}}
    for drafter, id in (("ngram", "acceptance_rate"), (tree, "acceptance_rate_nodes")):
        record = factories.record(prompts=8, passes=2, spec=factories.run_spec(drafter=drafter))
        assert ended(RunState.FAILED, record)["tiles"][1].id == id


@pytest.mark.parametrize(("state", "word"), [(RunState.CANCELLED, "cancelled"), (RunState.FAILED, "failed")])
def test_a_run_that_was_not_judged_has_a_state_in_place_of_a_verdict(state: RunState, word: str) -> None:
    """Catches "cannot tell" of a run that nobody judged."""
    plot = forest.build([build(factories.record(prompts=8, passes=4).model_copy(update={"state": state}))], "en")
    assert plot.table.rows[0][-1] == word
    assert outcome_of("cannot tell", "en") not in plot.finding


def test_an_empty_plot_gives_the_reason_of_its_figure(nothing: RunRecord) -> None:
    """Catches "no draft was made" or "the words were not counted" of a run that was cancelled."""
    report = build(nothing)
    for plot in (positions.build([report], "en"), profiles.build([report], "en"), fertility.build([report], "en")):
        assert plot.empty == "The run was cancelled."
