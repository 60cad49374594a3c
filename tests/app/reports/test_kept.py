"""What is kept of a run for comparisons must stand in for its facts wholly."""

from collections.abc import Callable

import pytest

from app.domain.estimate import Estimate
from app.metrics.catalogue import METRICS
from app.reports.build import build, measured
from app.reports.compare import compare, contrast
from app.reports.kept import Kept, Measured, pairs_of, sums_of
from app.reports.record import Kin, RunRecord, frames_of
from app.reports.report import Report
from tests.factories import record, run_spec
from tests.factories_load import load_record
from tests.factories_open import open_record

SAMPLED = {"temperature": 0.7, "top_k": None, "top_p": None, "seed": 1}


def drawn(run: int, language: str) -> RunRecord:
    return record(run=run, spec=run_spec(language=language, sampling=SAMPLED, verifier={"name": "rejection"}), prompts=8, language=language)


AWKWARD: dict[str, Callable[[int, str], RunRecord]] = {
    "greedy": lambda run, language: record(run=run, language=language, prompts=9),
    "drafts that are never kept": lambda run, language: record(run=run, language=language, prompts=9, draft=1, acceptance=0.0),
    "nothing but prefills": lambda run, language: record(run=run, language=language, prompts=8, tokens=1),
    "sampled": drawn,
    "closed load": lambda run, language: load_record(run=run, language=language),
    "open load": lambda run, language: open_record(run=run, language=language),
    "refused": lambda run, language: record(run=run, language=language, prompts=8, degenerate=True),
    "no twins": lambda run, language: record(run=run, language=language, prompts=8, parallel=None),
    "drafts not counted": lambda run, language: record(run=run, language=language, prompts=8, drafted_source="absent"),
}


def again(run: Measured) -> Measured:
    """As it comes back from where it is kept."""
    return Measured(Report.model_validate_json(run.report.model_dump_json()), Kept.model_validate_json(run.kept.model_dump_json()), run.kin)


@pytest.mark.parametrize("name", AWKWARD)
def test_a_comparison_of_what_is_kept_is_that_of_the_facts(name: str) -> None:
    """Catches a digit, a part or a prompt that is lost on the way to the table and back."""
    runs = [AWKWARD[name](1, "ru"), AWKWARD[name](2, "en")]
    assert contrast([again(measured(run)) for run in runs]) == compare(runs)


@pytest.mark.parametrize("name", AWKWARD)
def test_what_is_kept_is_what_figures_are_made_of(name: str) -> None:
    """Catches sums kept of another figure or part, and one that no figure of the report stands behind."""
    run = AWKWARD[name](1, "ru")
    frames, kept, report = frames_of(run), again(measured(run)).kept, build(run)
    for metric in METRICS.values():
        made = {str(each.part): each for each in (metric.sums(frames) if metric.sums and metric.scale else [])}
        for each in sums_of(kept, metric.id):
            own = made[str(each.part)]
            assert list(each.table.index) == list(own.table.index)
            assert [values.tolist() for values, _ in each.terms()] == [values.tolist() for values, _ in own.terms()]
            assert report.find(metric.id, **each.part) is not None
        for pair in pairs_of(kept, metric.id):
            assert metric.pairs is not None
            assert [pair.quotients.to_dict()] == [own.quotients.to_dict() for own in metric.pairs(frames)]


def test_a_family_is_weighed_as_it_is_now() -> None:
    """Catches a verdict of the family that a campaign was when the report was kept: its other runs have ended since."""
    alone = record(run=1, language="ru", prompts=12)
    pays = Estimate(point=1.4, low=1.3, high=1.5, n=12, counted="prompts", scope="prompts like these")
    kin = tuple(Kin(run=run, speedup=pays if run == 2 else None, margin=0.02) for run in range(2, 9))
    then = again(measured(alone))
    assert Measured(then.report, then.kept, kin).weighed() == build(alone.model_copy(update={"kin": kin}))
    assert then.weighed() == build(alone)
