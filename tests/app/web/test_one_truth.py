"""Pages say of a run what its report, its JSON and the lists say."""

from datetime import UTC, datetime

import pytest

from app.campaigns.schemas import CampaignOut, Progress
from app.domain.estimate import Refusal
from app.domain.status import RunState
from app.reports.build import build
from app.reports.compare import compare
from app.reports.figures import forest
from app.reports.format import say
from app.reports.record import RunRecord
from app.runs.schemas import RunSummary
from app.web import comparison_tables, passport
from app.web.pages.campaigns import sentence
from app.web.pages.run import view
from tests.factories import record, run_spec

NOW = datetime(2026, 11, 30, tzinfo=UTC)
FAST = record(prompts=12, passes=4, acceptance=0.9)


def summary(run: int = 1, **over: object) -> RunSummary:
    values: dict[str, object] = {"id": run, "state": RunState.SUCCEEDED, "spec": run_spec(), "created_at": NOW, "attempt": 1}
    return RunSummary.model_validate(values | over)


def changed(base: RunRecord, names: set[str], **over: object) -> RunRecord:
    return base.model_copy(update={"requests": tuple(fact.model_copy(update=over) if fact.prompt in names else fact for fact in base.requests)})


def test_a_refused_profile_is_no_refused_run() -> None:
    """Catches a pill on the page of a run that its JSON and every list call unrefused."""
    report = build(changed(FAST, {"ru-01"}, degenerate=True, repeated_share=0.8))
    assert isinstance(report.find("acceptance_rate", profile="code"), Refusal)
    shown = view(summary(), report, "en", "at")
    assert (shown["is_refused"], bool(shown["refused"])) == (False, True)


def test_a_campaign_counts_refused_runs_apart() -> None:
    """Catches a refused run that is counted among those that cannot tell, where the list of runs does not."""
    runs = [summary(1, outcome="pays"), summary(2, outcome="cannot tell"), summary(3, outcome="cannot tell", refused=True)]
    found = CampaignOut(
        id=1, title="t", submitted_by="a", created_at=NOW, progress=Progress(ended=3, total=3, counts={}), runs=runs, earlier=[]
    )  # fmt: skip
    assert sentence(found, "en").replace("\u00a0", " ") == "3 runs: 1 pays, 1 cannot tell, 1 refused."


@pytest.mark.parametrize("known", [2, 7])
def test_the_passport_says_of_how_many_answers_the_language_is_known(known: int) -> None:
    """Catches a passport that reads as if each answer had been long enough to tell, or none."""
    report = build(changed(FAST, {f"ru-{number:02}" for number in range(known + 1, 13)}, answer_language="und"))
    rows = [row for _, rows in passport.full(report, "en") for row in rows]
    assert ("answers whose language could be determined", f"{known} of 12", False) in rows


def three() -> list[RunRecord]:
    return [record(run=run, prompts=8, acceptance=accepted) for run, accepted in ((1, 0.9), (2, 0.3), (3, 0.6))]


def test_rows_of_several_runs_bear_their_numbers() -> None:
    """Catches two rows of the same name, and a column of differences that does not say whose."""
    found = compare(three())
    names = forest.build(found.reports, "en").figure["layout"]["yaxis"]["ticktext"]  # type: ignore[index]
    assert len(set(names)) == len(names) == 6
    assert comparison_tables.key_table(found, "en").columns[-1] == "#1 against #2"


def test_equal_runs_say_why_there_is_no_interval() -> None:
    """Catches `8 pairs are too few` where eight are enough and every pair gave the same."""
    found = compare([record(run=1, prompts=8), record(run=2, prompts=8)])
    assert "every prompt gave the same value" in say(found.answer)
    assert "too few" not in say(found.answer)
