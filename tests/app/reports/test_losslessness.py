"""What a report makes of answers that part: counted by judgement, refused in float32, said in half precision, shown with both texts."""

from typing import Any

import pytest

from app.domain.bounds import Purpose
from app.domain.facts import RequestFact, digest_of
from app.domain.observations import DivergenceFact
from app.reports.build import build
from app.reports.export import report_rows
from app.reports.format import say
from app.reports.record import RunRecord
from app.reports.report import Losslessness
from app.web.losslessness import output, partings
from app.web.render import environment
from tests.factories import preflight_fact, record, run_spec

BASE = record(prompts=12, passes=4)
PLACE, WRONG = 5, 7
HOSTILE = "<script>alert(1)</script>"


def parted(base: RunRecord, purpose: Purpose, names: set[str]) -> RunRecord:
    """The record with another token at one place of these prompts' speculative answers."""

    def change(fact: RequestFact) -> RequestFact:
        if fact.purpose != purpose or fact.arm != "speculative" or fact.prompt not in names or fact.output_ids is None:
            return fact
        ids = (*fact.output_ids[:PLACE], WRONG, *fact.output_ids[PLACE + 1 :])
        return fact.model_copy(update={"output_ids": ids, "output_digest": digest_of(ids)})

    return base.model_copy(update={"requests": tuple(map(change, base.requests))})


def with_float32(base: RunRecord) -> RunRecord:
    own = tuple(fact.model_copy(update={"purpose": "losslessness"}) for fact in base.requests if fact.trial == 0)
    return base.model_copy(update={"requests": (*base.requests, *own)})


def divergence(prompt: str, judgement: str = "tie", purpose: Purpose = "headline", trial: int = 0, **over: Any) -> DivergenceFact:
    gap = {"tie": 0.125, "violation": 3.5}[judgement]
    seed = BASE.requests[0].seed
    made: dict[str, Any] = {
        "purpose": purpose, "trial": trial, "prompt": prompt, "seed": seed, "position": PLACE, "judgement": judgement, "gap": gap, "tolerance": 0.25,
        "plain_token": 3, "speculative_token": WRONG, "plain_text": "так", "speculative_text": "иначе",
    }  # fmt: skip
    return DivergenceFact.model_validate(made | over)


def judged(base: RunRecord, *facts: DivergenceFact) -> RunRecord:
    return base.model_copy(update={"divergences": facts})


def headline(run: RunRecord) -> Losslessness:
    return build(run).losslessness[0]


def exact(names: set[str], *facts: DivergenceFact, **over: Any) -> Any:
    """The report of a half-precision run whose float32 trial parts at these prompts."""
    return build(judged(parted(with_float32(BASE), "losslessness", names), *facts).model_copy(update=over))


def test_each_answer_that_parts_is_counted_once() -> None:
    """Catches a tie that is counted as a fault, a judgement counted twice, and one that nobody made counted as a tie."""
    run = parted(BASE, "headline", {"ru-03", "ru-05"})
    found = headline(
        judged(run, *(divergence("ru-03", trial=t) for t in range(4)), divergence("ru-05", "violation"), divergence("ru-05", "violation"))
    )
    assert (found.equal, found.n) == (40, 48)
    assert (found.ties, found.violations, found.unjudged) == (4, 1, 3)
    assert found.ties + found.violations + found.unjudged == found.n - found.equal


def test_a_judgement_of_an_answer_that_does_not_part_is_none() -> None:
    """Catches facts of another trial, purpose or place that excuse a difference."""
    run = parted(BASE, "headline", {"ru-03"})
    beside = [divergence("ru-05"), divergence("ru-03", purpose="losslessness"), divergence("ru-03", position=2), divergence("ru-03", trial=9)]
    found = headline(judged(run, *beside))
    assert (found.ties, found.violations, found.unjudged) == (0, 0, 4)


def test_of_two_judgements_the_worse_counts() -> None:
    """Catches a runner that takes a violation back."""
    run = parted(BASE, "headline", {"ru-03"})
    assert headline(judged(run, divergence("ru-03", "violation"), divergence("ru-03"))).violations == 1


def test_a_violation_is_shown_before_a_tie() -> None:
    """Catches a page that shows the harmless difference and hides the other one."""
    run = parted(BASE, "headline", {"ru-03", "ru-05"})
    found = headline(judged(run, divergence("ru-03"), divergence("ru-05", "violation", trial=1)))
    assert found.divergence is not None
    assert (found.divergence.prompt, found.divergence.judgement) == ("ru-05", "violation")


def test_ties_in_float32_do_not_refuse() -> None:
    """Catches a run refused for what the order of a sum decides: all 12 answers part, all at ties."""
    names = {fact.prompt for fact in BASE.requests}
    report = exact(names, *(divergence(name, purpose="losslessness") for name in names))
    assert report.verdict.outcome == "pays"
    gate = next(gate for gate in report.gates if gate.name == "lossy")
    assert not gate.refused
    assert "all at ties" in say(gate.sentence)


def test_one_violation_in_float32_refuses() -> None:
    """Catches a broken rule that hides among the tenth that may differ."""
    report = exact({"ru-01"}, divergence("ru-01", "violation", "losslessness"))
    assert report.verdict.causes[0] == "lossy"
    assert "1 of 12" in say(report.answer)


def test_a_label_lets_a_violation_pass_and_says_it() -> None:
    """Catches a labelled run that is called lossless."""
    report = exact({"ru-01"}, divergence("ru-01", "violation", "losslessness"), spec=run_spec(labels={"lossy": "typical"}))
    gate = next(gate for gate in report.gates if gate.name == "lossy")
    assert (gate.refused, gate.failing) == (False, 1)
    assert "do not allow" in say(gate.sentence)


def test_differences_that_nobody_judged_are_not_excused() -> None:
    """Catches a runner that passes by keeping silent: a quarter of the answers part in float32."""
    assert exact({"ru-01", "ru-02", "ru-03"}).verdict.causes[0] == "lossy"
    assert exact({"ru-01"}).verdict.outcome == "pays"


def test_a_violation_in_float32_counts_when_the_run_is_float32_itself() -> None:
    """Catches a check that only looks at a trial of its own."""
    run = judged(parted(BASE, "headline", {"ru-01"}), divergence("ru-01", "violation"))
    run = run.model_copy(update={"preflight": preflight_fact(dtype="float32")})
    assert build(run).verdict.causes[0] == "lossy"


def test_a_violation_in_half_precision_is_said_and_not_refused() -> None:
    """Catches a difference that is silently called a near tie, and a run refused for the noise of its precision."""
    report = build(judged(with_float32(parted(BASE, "headline", {"ru-03"})), divergence("ru-03", "violation")))
    assert not next(gate for gate in report.gates if gate.name == "lossy").refused
    (said,) = [say(note) for note in report.notes if "More than near ties" in say(note)]
    assert "ru-03 at token 5" in said
    ties = build(judged(parted(BASE, "headline", {"ru-03"}), divergence("ru-03")))
    assert not [note for note in ties.notes if "More than near ties" in say(note)]


@pytest.mark.parametrize(
    ("judgement", "words"),
    [("tie", "same but for ties"), ("violation", "changed")],
)
def test_the_tile_says_what_kind_of_difference_it_is(judgement: str, words: str) -> None:
    """Catches "changed" over ties alone, and "same" over a fault."""
    report = exact({"ru-01"}, divergence("ru-01", judgement, "losslessness"))
    half = build(parted(BASE, "headline", {"ru-03"})).losslessness
    shown = output([*half, report.losslessness[1]], "en")
    assert shown.value == words
    assert "not judged: 4" in shown.n
    assert f"ties of two tokens: {int(judgement == 'tie')}, violations: {int(judgement == 'violation')}" in shown.n


def rows(run: RunRecord, locale: str = "en") -> str:
    """The part of the page that shows where answers part."""
    template = environment(locale).from_string("{% import 'macros.html' as m with context %}{% for p in partings %}{{ m.parting(p) }}{% endfor %}")
    return template.render(partings=partings(build(run).losslessness, locale))


def test_both_texts_stand_side_by_side_and_run_nothing() -> None:
    """Catches a missing continuation, and a model's answer that becomes part of the page."""
    shown = rows(judged(parted(BASE, "headline", {"ru-03"}), divergence("ru-03", speculative_text=HOSTILE)))
    assert "<pre>так</pre>" in shown
    assert "&lt;script&gt;" in shown
    assert HOSTILE not in shown
    assert "ru-03 in bfloat16, from token 5 on" in shown
    assert "0.125 apart, where rounding explains 0.250" in shown


def test_a_text_that_is_not_kept_is_said_to_be_so() -> None:
    """Catches an empty box in place of a private answer."""
    run = judged(parted(BASE, "headline", {"ru-03"}), divergence("ru-03", plain_text=None, speculative_text=None))
    assert rows(run).count("The text is not kept.") == 2
    assert rows(run, "ru").count("Текст не хранится.") == 2


def test_small_gaps_keep_their_digits() -> None:
    """Catches float32 gaps that are all printed as 0.000."""
    run = judged(parted(BASE, "headline", {"ru-03"}), divergence("ru-03", gap=1.9e-6, tolerance=3.81e-6))
    assert "1.9E-6 apart, where rounding explains 3.81E-6" in rows(run)


def test_counts_of_losslessness_leave_with_the_figures() -> None:
    """Catches an export that says acceptance and not whether the text stayed the same."""
    found = {
        row["part"]: row for row in report_rows(exact({"ru-01"}, divergence("ru-01", purpose="losslessness"))) if row["figure"] == "losslessness"
    }
    assert found["dtype=bfloat16;answers=equal to plain"]["pooled"] == 1.0
    row = found["dtype=float32;answers=ties"]
    assert (row["pooled"], row["n"], row["counted"], row["language"]) == (1 / 12, 12, "requests", "ru")
    assert found["dtype=float32;answers=violations"]["pooled"] == 0
    assert found["dtype=float32;answers=not judged"]["pooled"] == 0
