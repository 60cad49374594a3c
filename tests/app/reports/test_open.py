"""Reports of runs under an open load: the verdict is on the median latency at equal arrivals, or says that requests pile up."""

import pytest

from app.domain.estimate import Absent, Figure
from app.reports.build import build
from app.reports.format import say
from app.reports.loads import code, spoken
from tests.factories import run_spec
from tests.factories_open import open_record

NB = "\u00a0"


def test_pays_by_median_latency() -> None:
    """Catches a verdict on pairs of prompts, which an open load does not have, and a p50 shown without its p95."""
    report = build(open_record(rate=0.5))
    cell, tail = report.find("latency_ratio"), report.find("latency_ratio", quantile="p95")
    assert report.headline == "latency_ratio"
    assert isinstance(cell, Figure)
    assert isinstance(tail, Figure)
    assert (cell.pooled.n, cell.pooled.counted) == (6, "trial pairs")
    assert report.verdict.outcome == "pays"
    assert say(report.question) == f"Does ngram pay off in Russian at 0.5{NB}requests/s?"
    assert say(report.answer).startswith(f"Pays. In Russian, at 0.5{NB}requests/s, the median latency of plain is 1.")
    assert f"при потоке 0,5{NB}запр./с" in say(report.answer, "ru")
    assert report.find("speedup_throughput") is None
    assert isinstance(report.find("speedup_end_to_end"), Absent)


def test_slower() -> None:
    report = build(open_record(rate=0.4, slow=2.0))
    assert (report.verdict.outcome, report.verdict.slower) == ("does not pay", True)


@pytest.mark.parametrize(
    ("rate", "slow", "words"),
    [(1.9, 0.7, "pile up in plain decoding, and ngram keeps up"), (0.6, 4.0, "pile up with ngram, and plain"), (8.0, 1.0, "pile up both")],
)
def test_unstable_says_which_arm_and_shows_no_latency(rate: float, slow: float, words: str) -> None:
    """Catches a ratio of latencies that only says how long the trials were."""
    report = build(open_record(rate=rate, slow=slow))
    assert (report.verdict.outcome, report.verdict.causes[0], report.verdict.more) == ("cannot tell", "unstable", None)
    assert words in say(report.answer)
    assert isinstance(report.find("latency_ratio"), Absent)
    assert isinstance(report.find("throughput", arm="plain", of="tokens"), Figure)


def test_three_pairs_are_too_few() -> None:
    cut = open_record(rate=0.4)
    cut = cut.model_copy(update={"requests": tuple(f for f in cut.requests if f.trial < 3)})
    report = build(cut)
    assert report.verdict.causes[0] == "few trial pairs"
    assert say(report.answer).startswith(f"Cannot tell yet. 3{NB}trial{NB}pairs are too few")


def test_a_load_in_words() -> None:
    """Catches two loads that read alike."""
    bursty = run_spec(load={"kind": "open", "rate": 2.0, "burstiness": 0.5, "concurrency": 4}).load
    poisson = run_spec(load={"kind": "open", "rate": 2.0, "concurrency": 4}).load
    assert (code(bursty), code(poisson)) == ("open 2/s burstiness 0.5 slots 4", "open 2/s slots 4")
    assert spoken(poisson, "en") == f"open, 2{NB}requests/s, Poisson, at most 4 at once"
    assert spoken(bursty, "ru").startswith(f"открытая, 2{NB}запр./с, параметр формы 0,5")
    assert spoken(run_spec().load, "en") == "closed 1"
