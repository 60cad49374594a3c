"""Which run stands beside a claim."""

from app.domain.estimate import Absent
from app.domain.sentence import plain
from app.domain.spec import Load
from app.landscape.beside import beside, representative
from app.languages.schemas import Measured
from app.reports.build import build
from tests.factories import record


def measured(run: int, *, language: str = "en", prompts: int = 8, void: bool = False) -> Measured:
    report = build(record(run=run, language=language, prompts=prompts))
    spec, why = report.spec, plain("Every block of trials was disturbed by other processes, so no time is used.")
    return Measured(
        run=run, runs=1, language=language, tokenizer=None, tokenizer_named=spec.tokenizer, target=spec.model.title, dtype=spec.model.dtype,
        drafter=spec.drafter, controller=spec.controller, load=spec.load, sampling=spec.sampling, suite=spec.suite.id, outcome="cannot tell",
        refused=False, acceptance=report.find("acceptance_rate"),
        speedup=Absent(id=report.headline, reason=why) if void else report.find(report.headline),
    )  # fmt: skip


def runs(*found: Measured) -> list[int]:
    return [one.run for one in beside(sorted(found, key=lambda one: -one.run))]


def test_a_newer_run_without_a_speed_up_takes_nobodys_place() -> None:
    """Catches a disturbed run that makes the measured one vanish from beside the claim."""
    assert runs(measured(2), measured(5, prompts=12, void=True)) == [2]


def test_a_shorter_run_takes_nobodys_place() -> None:
    """Catches a try over a few prompts that stands where one over many stood."""
    assert runs(measured(2, prompts=12), measured(5, prompts=8)) == [2]


def test_of_equals_the_newest_of_each_language() -> None:
    assert runs(measured(2), measured(5), measured(4, language="ru")) == [5, 4]


def test_another_machine_takes_nobodys_place() -> None:
    """Catches a run on a CPU that stands where one on a GPU stood, without a word."""
    gpu = measured(2).model_copy(update={"device": "GPU"})
    assert runs(gpu, measured(5).model_copy(update={"device": "CPU"})) == [5, 2]


def test_a_run_under_load_takes_nobodys_place() -> None:
    """Catches a run at four requests at once, over more prompts, that stands alone beside what is claimed of one request at a time."""
    four, open_ = (
        measured(run, prompts=12).model_copy(update={"load": load}) for run, load in ((6, Load(concurrency=4)), (7, Load(kind="open", rate=2)))
    )
    assert runs(four, measured(5), open_) == [5, 7, 6]
    assert [one.run for one in representative([four, measured(5), open_])] == [5]
    assert representative([four]) == []
