"""What a comparison's page says of more than two runs: which pairs there are, and for what an interval allows."""

from app.comparisons.schemas import Asked
from app.reports.compare import compare
from app.web.comparison import adjusted, against_links, others, view
from tests.factories import record, run_spec
from tests.factories_load import load_record

NGRAM = record(run=1, prompts=12, acceptance=0.4)
SKIP = record(run=2, prompts=12, acceptance=0.6, spec=run_spec(drafter={"name": "layerskip", "params": {"skip": 10}}))
SINK = record(run=3, prompts=12, acceptance=0.8, spec=run_spec(drafter={"name": "sink-window", "params": {}}))


def test_only_pairs_with_the_first_run_are_promised() -> None:
    """Catches "every pair" over a table that holds those with the first run alone."""
    found = compare([NGRAM, SKIP, SINK])
    assert [(pair.run, pair.against) for pair in found.pairs] == [(1, 2), (1, 3)]
    assert others(found, "en") == "Each other run is held against run 1 in a table below."
    assert others(compare([NGRAM, SKIP]), "en") == ""


def test_series_are_held_against_the_first_load_by_load() -> None:
    """Catches "each other run" where the runs of one series stand at several loads."""
    skip = {"name": "layerskip", "params": {"skip": 10}}
    one = [load_record(run=run, concurrency=load) for run, load in ((1, 4), (2, 8))]
    spec = {load: run_spec(drafter=skip, load={"concurrency": load}, trials=3) for load in (4, 8)}
    other = [load_record(run=run, concurrency=load, spec=spec[load]) for run, load in ((3, 4), (4, 8))]
    found = compare([*one, *other])
    assert [(pair.run, pair.against) for pair in found.pairs] == [(1, 3), (2, 4)]
    assert others(found, "en").startswith("Each series is held against that of run 1, at each load that both have")


def test_any_run_may_be_the_one_that_others_are_held_against() -> None:
    """Catches a pair that no address shows."""
    assert against_links(Asked((1, 2, 3), load="4")) == [
        ("#1", "/compare?runs=1,2,3&load=4", True),
        ("#2", "/compare?runs=2,1,3&load=4", False),
        ("#3", "/compare?runs=3,1,2&load=4", False),
    ]
    assert view(compare([NGRAM, SKIP]), Asked((1, 2)), "en")["against"] == []


def test_what_verdicts_allow_for_is_said_beside_what_contrasts_do_not() -> None:
    """Catches intervals of many pairs that pass for adjusted, and a family of another size than the verdicts'."""
    reports = compare([NGRAM, SKIP, SINK]).reports
    assert {report.verdict.family for report in reports} == {3}
    assert adjusted(reports, "en").replace("\u00a0", " ").endswith("“pays” has to hold among 3 runs weighed together.")
    larger = reports[0].model_copy(update={"verdict": reports[0].verdict.model_copy(update={"family": 20})})
    assert adjusted((larger, *reports[1:]), "en").replace("\u00a0", " ").endswith("weighed together, from 3 to 20 runs.")
    alone = reports[0].model_copy(update={"verdict": reports[0].verdict.model_copy(update={"family": 1})})
    assert adjusted((alone,), "en") == ""
