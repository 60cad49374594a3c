"""Runs side by side: what may be contrasted, over which pairs, and what is said when it may not."""

import numpy as np
import pytest

from app.domain.estimate import Estimate, Figure
from app.domain.facts import RequestFact
from app.domain.passport import Passport
from app.domain.status import RunState
from app.domain.tokenizer import TokenizerIdentity
from app.reports.axes import FORBIDS, NAMED_ONLY
from app.reports.build import build
from app.reports.compare import compare
from app.reports.format import say
from app.reports.record import RunRecord
from app.reports.report import Comparison
from app.statistics.differences import share_difference
from tests.factories import environment_fact, preflight_fact, record, run_spec

RU = record(run=1, language="ru", prompts=12, acceptance=0.4)
EN = record(run=2, language="en", prompts=12, acceptance=0.8)


def changed(base: RunRecord, **over: object) -> RunRecord:
    return base.model_copy(update=over)


def contrast(found: Comparison, id: str, **part: str) -> Estimate | None:
    return next((each.estimate for each in found.contrasts if each.id == id and each.part == part), None)


def looping(base: RunRecord) -> RunRecord:
    return changed(base, requests=tuple(fact.model_copy(update={"degenerate": True, "repeated_share": 0.8}) for fact in base.requests))


def test_russian_against_english() -> None:
    found = compare([RU, EN])
    assert found.comparable
    assert say(found.question) == "Does ngram pay as well in Russian as in English?"
    assert say(found.answer).startswith("No. The speed-up of run 1 (ru) is ")
    assert [(each.field, each.expected) for each in found.differences] == [("language", True), ("answer_language", True)]
    accepted = contrast(found, "acceptance_rate")
    assert accepted is not None
    assert (accepted.n, accepted.counted) == (12, "parallel pairs")
    assert accepted.high < 0


def test_better_than_what_does_not_pay_is_no_yes() -> None:
    """Catches `yes, and better` of a drafter that pays in one language alone: the other language would read as paying too."""
    slow = record(run=3, language="ru", prompts=12, acceptance=0.05)
    found = compare([EN, slow])
    assert [report.verdict.outcome for report in found.reports] == ["pays", "does not pay"]
    assert say(found.answer).startswith("Run 2 (en) pays and run 3 (ru) does not. Its speed-up is ")
    assert say(compare([slow, EN]).answer).startswith("No. ")


def test_faster_than_what_does_not_pay_says_that_it_does_not() -> None:
    """Catches "it is not known that the other pays" of one that is known not to: unknown is whether the faster one does."""
    slow = record(run=3, language="ru", prompts=12, acceptance=0.05)
    found = compare([barely(EN), slow, record(run=4, language="en", prompts=12, acceptance=0.3)])
    assert [report.verdict.outcome for report in found.reports[:2]] == ["cannot tell", "does not pay"]
    assert say(found.answer).startswith("Run 2 (en) gains more, but it is not known that it pays; run 3 (ru) does not. ")


def drafting_in(base: RunRecord, prompts: int) -> RunRecord:
    """The same run with drafts in its first prompts alone."""
    plain = {(fact.prompt, fact.trial): fact for fact in base.requests if fact.arm == "plain"}

    def own(fact: RequestFact) -> RequestFact:
        if fact.arm != "speculative" or int(fact.prompt[-2:]) <= prompts:
            return fact
        return plain[fact.prompt, fact.trial].model_copy(update={"arm": fact.arm, "order": fact.order})

    return changed(base, requests=tuple(map(own, base.requests)))


def test_a_run_that_drafted_in_one_prompt_says_nothing_of_acceptance() -> None:
    """Catches a difference of acceptance out of a single prompt's drafts, and pairs without a draft that are said to carry one."""
    said = say(compare([drafting_in(RU, 1), EN]).answer)
    assert " pp" not in said.replace("\u00a0", " ")
    assert said.endswith("too few prompts with drafts for an interval (the run with fewer drafted in 1\u00a0of\u00a012\u00a0prompts).")
    found = compare([drafting_in(RU, 8), EN])
    shares = [cell.pooled.point or 0 for report in found.reports if isinstance(cell := report.find("acceptance_rate"), Figure)]
    accepted = contrast(found, "acceptance_rate")
    assert accepted is not None
    assert (accepted.point, accepted.n, accepted.of) == (pytest.approx(shares[0] - shares[1]), 8, 12)
    assert say(found.answer).endswith(", over 12\u00a0pairs (the run with fewer drafted in 8).")


def test_the_difference_is_over_parallel_pairs() -> None:
    """A prompt without a twin is in its own figure and in no contrast: pairs are by the parallel id, not by place."""
    lonely = tuple(fact.model_copy(update={"parallel": None}) if fact.prompt == "ru-12" else fact for fact in RU.requests)
    found = compare([changed(RU, requests=lonely), EN])
    accepted = contrast(found, "acceptance_rate")
    pairs = [f"{i:02}" for i in range(1, 12)]

    def side(base: RunRecord, language: str) -> tuple[np.ndarray, np.ndarray]:
        first = {fact.prompt: fact for fact in base.requests if fact.arm == "speculative" and fact.trial == 0}
        own = [first[f"{language}-{pair}"] for pair in pairs]
        return np.array([float(f.verified) for f in own]), np.array([float(f.drafted) for f in own])

    expected = share_difference(side(RU, "ru"), side(EN, "en"))
    assert accepted is not None
    assert accepted.n == 11
    assert (accepted.point, accepted.low, accepted.high) == pytest.approx((expected.point, expected.low, expected.high))
    whole = found.reports[0].find("acceptance_rate")
    assert isinstance(whole, Figure)
    assert whole.pooled.n == 12


def test_swapping_the_runs_turns_every_contrast_round() -> None:
    one, other = compare([RU, EN]), compare([EN, RU])
    assert len(one.contrasts) == len(other.contrasts) > 10
    for a, b in zip(one.contrasts, other.contrasts, strict=True):
        assert (a.id, a.part, a.kind) == (b.id, b.part, b.kind)
        if a.estimate.point is not None and b.estimate.point is not None:
            turned = -b.estimate.point if a.kind == "difference" else 1 / b.estimate.point
            assert a.estimate.point == pytest.approx(turned)


def test_a_refused_side_gives_no_contrast_but_a_sentence() -> None:
    """A looping Russian run: no difference is shown, although all counts are there; fertility of prompts still compares."""
    found = compare([looping(RU), EN])
    assert found.comparable
    assert {each.id for each in found.contrasts} == {"fertility"}
    assert {each.part["text"] for each in found.contrasts} == {"prompts"}
    assert "12 of 12 answers repeat themselves" in say(found.refused[0])
    assert say(found.answer).startswith("Cannot tell: in Russian 12 of 12 answers repeat themselves")


@pytest.mark.parametrize(("state", "word"), [(RunState.FAILED, "failed"), (RunState.CANCELLED, "was cancelled")])
def test_a_run_that_was_cut_short_is_contrasted_with_none(state: RunState, word: str) -> None:
    """Catches "it is faster" over those prompts alone that a run got through before it failed."""
    found = compare([EN, changed(RU, state=state)])
    assert say(found.answer) == f"Cannot tell: run {RU.run} {word}, so nothing is contrasted with it."
    assert found.contrasts == ()


def test_both_refused() -> None:
    assert say(compare([looping(RU), looping(EN)]).answer) == "Cannot tell: the figures of both runs are refused."


def test_a_run_without_tokenizer_is_not_compared() -> None:
    found = compare([changed(RU, preflight=None), EN])
    assert not found.comparable
    assert found.contrasts == ()
    assert found.differences[0].field == "tokenizer"
    assert "tokenizer" in say(found.answer)


def test_drafters_are_compared_on_the_same_prompts() -> None:
    other = record(run=2, language="ru", prompts=12, acceptance=0.8, spec=run_spec(drafter={"name": "layerskip", "params": {"skip": 10}}))
    # Whether draft and verification share a cache is the drafter's doing.
    found = compare([RU, changed(other, preflight=preflight_fact(shared_cache="not shared"))])
    assert found.comparable
    assert say(found.question) == "Does ngram pay as well as layerskip in Russian?"
    accepted = contrast(found, "acceptance_rate")
    assert accepted is not None
    assert accepted.counted == "prompts"
    assert contrast(found, "speedup_end_to_end") is not None


def test_a_second_difference_forbids_and_is_named() -> None:
    """Language and drafter both differ: a difference in acceptance could be either's."""
    other = record(run=2, language="en", prompts=12, spec=run_spec(language="en", drafter="layerskip"))
    found = compare([RU, other])
    assert not found.comparable
    assert found.contrasts == ()
    forbidding = [each.field for each in found.differences if each.forbids]
    assert forbidding == ["drafter"]
    assert "drafter differs" in say(found.answer)


@pytest.mark.parametrize(
    ("field", "over"),
    [
        ("max_new_tokens", {"max_new_tokens": 64}),
        ("sampling", {"sampling": {"seed": 7}}),
        ("ignore_eos", {"ignore_eos": True}),
        ("stop", {"stop": ("\n",)}),
    ],
)
def test_what_changes_the_measurement_forbids(field: str, over: dict[str, object]) -> None:
    found = compare([RU, changed(EN, spec=run_spec(language="en", **over))])
    assert not found.comparable
    assert field in [each.field for each in found.differences if each.forbids]


def test_other_prompts_forbid_within_one_language() -> None:
    """Between languages the prompts are translations, so they differ by nature; within one they must be the same."""
    other = changed(RU, run=2, preflight=preflight_fact(suite_digest="0" * 64))
    assert not compare([RU, other]).comparable
    assert compare([RU, changed(EN, preflight=preflight_fact(suite_digest="0" * 64))]).comparable


def test_another_tokenizer_forbids_acceptance_alone() -> None:
    other = TokenizerIdentity(name="other", fingerprint="1" * 64, vocabulary=100)
    found = compare([RU, changed(EN, preflight=preflight_fact(tokenizer=other))])
    assert found.comparable
    ids = {each.id for each in found.contrasts}
    assert "acceptance_rate" not in ids
    assert {"speedup_end_to_end", "fertility"} <= ids
    assert any("tokenizers differ" in say(said) for said in found.refused)


def test_a_renamed_tokenizer_is_the_same() -> None:
    renamed = preflight_fact().tokenizer.model_copy(update={"name": "copy"})
    found = compare([RU, changed(EN, preflight=preflight_fact(tokenizer=renamed))])
    assert contrast(found, "acceptance_rate") is not None


def test_another_machine_forbids_speed_alone() -> None:
    found = compare([RU, changed(EN, environment=environment_fact(cores=64, device="other, 64 cores"))])
    ids = {each.id for each in found.contrasts}
    assert "acceptance_rate" in ids
    assert not {"speedup_end_to_end", "speedup_decode"} & ids
    assert {each.field for each in found.differences if each.forbids} == {"hardware", "hardware_digest"}


def test_compiled_forwards_against_eager_ones_forbid_speed_alone() -> None:
    """Catches a gain of the compiler that is shown as one of a language or a drafter."""
    found = compare([RU, changed(EN, spec=run_spec(language="en", compile=True))])
    ids = {each.id for each in found.contrasts}
    assert "acceptance_rate" in ids
    assert not {"speedup_end_to_end", "speedup_decode"} & ids
    assert {each.field for each in found.differences if each.forbids} == {"compile"}


def test_weighed_together_is_a_family() -> None:
    """The size of the family is in each verdict; a drafter that pays by a hair alone does not among many that do not."""
    found = compare([RU, EN])
    assert [report.verdict.family for report in found.reports] == [2, 2]


def test_every_passport_field_has_its_consequence() -> None:
    """A field added to the passport must be weighed here: forgotten, runs that differ in it would pass for comparable."""
    assert set(Passport.model_fields) == set(FORBIDS) | NAMED_ONLY
    assert not set(FORBIDS) & NAMED_ONLY


def barely(base: RunRecord) -> RunRecord:
    """The record with speculative times stretched until its interval begins just above the bar."""
    cell = build(base).find("speedup_end_to_end")
    assert isinstance(cell, Figure)
    factor = cell.pooled.low / 1.0205

    def stretched(fact: RequestFact) -> RequestFact:
        times = {name: fact.sent_at + (getattr(fact, name) - fact.sent_at) * factor for name in ("first_at", "last_at")}
        return fact.model_copy(update=times) if fact.arm == "speculative" else fact

    return changed(base, requests=tuple(map(stretched, base.requests)))


def test_a_drafter_that_barely_pays_does_not_in_a_family() -> None:
    """Tried among three, `pays` by a hair is what chance gives: it is taken back, and says that the family is why."""
    alone = build(barely(RU))
    assert alone.verdict.outcome == "pays"
    found = compare([barely(RU), *(record(run=i, language="en", prompts=12, acceptance=0.3) for i in (2, 3))])
    first = found.reports[0].verdict
    assert (first.outcome, first.causes, first.family) == ("cannot tell", ("family",), 3)
    assert "one of 3\u00a0runs weighed together" in say(first.sentence)
    assert found.reports[0].answer == first.sentence


def test_two_runs_at_least() -> None:
    with pytest.raises(ValueError, match="two runs"):
        compare([RU])


def test_a_comparison_survives_its_json() -> None:
    found = compare([RU, EN])
    assert Comparison.model_validate_json(found.model_dump_json()) == found
