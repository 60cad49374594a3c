"""Answers that are drawn (definitions § 3): they differ in text and length, and a report may not mistake that for speed."""

import math
import random
from typing import Any

import pytest

from app.domain.estimate import Absent, Figure
from app.domain.facts import RequestFact
from app.reports.build import build
from app.reports.format import say
from app.reports.headline import noise_floor, seeds_of
from app.reports.record import RunRecord, frames_of
from app.web.pages.run import output
from tests.factories import record, request_fact, run_spec, trials
from tests.factories_load import load_record

SAMPLING = {"temperature": 0.7, "top_k": None, "top_p": None, "seed": 1}
STEP = 0.02


def drawn(passes: int = 4, prompts: int = 10, *, factor: float = 1.0, control: float = 1.0, ends: str = "eos", **over: Any) -> RunRecord:
    """Every answer has a length of its own. A token costs plain `STEP`, the speculative arm `factor` and the library's own `control` of it, whatever
    the length."""
    spec = run_spec(sampling=SAMPLING, verifier={"name": "rejection"}, **over)
    found: list[RequestFact] = []
    arms = ("plain", "speculative", "control")
    costs = {"plain": STEP, "speculative": factor * STEP, "control": control * STEP}
    for trial in range(passes):
        for number in range(1, prompts + 1):
            for place, arm in enumerate(arms if trial % 2 == 0 else arms[::-1]):
                found.append(answer(arm, f"ru-{number:02}", trial, place, costs[arm], ends))
    return record(spec=spec).model_copy(update={"requests": tuple(found), "trials": tuple(trials(found))})


def answer(arm: str, prompt: str, trial: int, order: int, step: float, ends: str) -> RequestFact:
    source = random.Random(f"{arm}:{prompt}:{trial}")
    tokens = 32 if ends == "length" else source.randrange(10, 60)
    fact = request_fact(
        arm="speculative" if arm == "speculative" else "plain", prompt=prompt, trial=trial, order=order, seed=1 + trial, tokens=tokens
    )
    cost = step * source.uniform(0.97, 1.03)
    first, steps = fact.sent_at + 0.1, len(fact.step_tokens)
    last = first + cost * (fact.emitted - 1)
    times = tuple(first + (last - first) * i / (steps - 1) for i in range(steps))
    ids = tuple(source.randrange(49152) for _ in range(fact.emitted))
    changed = {
        "arm": arm,
        "first_at": first,
        "last_at": times[-1],
        "step_end": times,
        "finish": ends,
        "output_ids": ids,
        "output_digest": f"{ids[0]:064x}",
    }
    return fact.model_copy(update=changed)


def estimate(made: RunRecord, id: str, **part: str) -> Any:
    cell = build(made).find(id, **part)
    assert isinstance(cell, Figure), cell
    return cell.pooled


def test_decoding_per_token_is_the_headline() -> None:
    """Catches whole seconds of answers of different length as the headline: plain that happens to say more would look slow."""
    report = build(drawn(factor=0.8))
    assert report.headline == "speedup_decode"
    assert isinstance(report.find("speedup_end_to_end"), Absent)
    found = estimate(drawn(factor=0.8), "speedup_decode")
    assert found.n == 10
    assert found.counted == "prompts"
    assert found.low < 1 / 0.8 < found.high
    assert report.verdict.outcome == "pays"


def test_answers_of_no_difference_in_speed_do_not_differ() -> None:
    """Catches lengths that leak into the speed-up: the arms cost the same per token, and only what they say differs."""
    found = estimate(drawn(), "speedup_decode")
    assert found.low < 1 < found.high
    verdict = build(drawn()).verdict
    assert (verdict.outcome, verdict.slower) == ("does not pay", False)
    seconds = {arm: math.fsum(fact.last_at - fact.sent_at for fact in drawn().requests if fact.arm == arm) for arm in ("plain", "speculative")}
    assert abs(seconds["plain"] / seconds["speculative"] - 1) > 0.02  # what whole times would have said


def test_whole_times_need_answers_of_a_fixed_length() -> None:
    """Catches equal lengths by coincidence taken for a fixed one."""
    assert isinstance(build(drawn(ends="length")).find("speedup_end_to_end"), Figure)
    ended = drawn(ends="length")
    ended = ended.model_copy(update={"requests": tuple(fact.model_copy(update={"finish": "eos"}) for fact in ended.requests)})
    cell = build(ended).find("speedup_end_to_end")
    assert isinstance(cell, Absent)
    assert say(cell.reason).startswith("Drawn answers end where they end")


def test_all_seeds_of_a_prompt_are_one_cluster_and_all_count() -> None:
    """Catches seeds counted as prompts, which would make intervals too narrow, and counts of one pass alone."""
    made = drawn()
    found = estimate(made, "acceptance_rate")
    own = [fact for fact in made.requests if fact.arm == "speculative"]
    assert found.point == pytest.approx(sum(f.verified for f in own) / sum(f.drafted for f in own))
    assert (found.n, found.counted) == (10, "prompts")
    cell = build(made).find("acceptance_rate")
    assert isinstance(cell, Figure)
    assert cell.macro is not None
    assert cell.macro.n == 10
    shares = [sum(f.verified for f in own if f.prompt == p) / sum(f.drafted for f in own if f.prompt == p) for p in {f.prompt for f in own}]
    assert cell.macro.point == pytest.approx(sum(shares) / len(shares))


@pytest.mark.parametrize("passes", [2, 3])
def test_fewer_than_four_seeds_give_no_verdict(passes: int) -> None:
    """Catches a verdict from a few draws of each prompt."""
    verdict = build(drawn(passes, factor=0.5)).verdict
    assert verdict.outcome == "cannot tell"
    assert verdict.causes == ("few seeds",)
    assert f"{passes} draws of a prompt" in say(verdict.sentence)
    assert verdict.more is None


def test_seeds_whose_times_are_void_are_not_counted() -> None:
    """Catches a verdict on seeds that were drawn but not timed, since others disturbed them."""
    made = drawn(8, factor=0.5)
    noisy = tuple(trial.model_copy(update={"contended": trial.block == 0}) for trial in made.trials)
    assert build(made.model_copy(update={"trials": noisy})).verdict.outcome == "pays"
    made = drawn(4, factor=0.5)
    noisy = tuple(trial.model_copy(update={"contended": trial.block == 0}) for trial in made.trials)
    assert "few seeds" in build(made.model_copy(update={"trials": noisy})).verdict.causes


def test_losslessness_is_for_greedy_decoding_alone_and_the_report_says_so() -> None:
    """Catches drawn answers compared token for token: they would all be called changed."""
    report = build(drawn())
    assert report.losslessness == ()
    assert any(say(gate.sentence).startswith("The rule is lossless by its proof; no answers were compared") for gate in report.gates)
    assert any(say(note).startswith("Losslessness is not measured: answers are drawn") for note in report.notes)
    assert output((), "en", drawn=True).why.startswith("Answers are drawn")


def test_the_control_is_compared_per_token() -> None:
    """Catches a control ratio of whole times of answers that say different things: here the control costs twice as much per token."""
    found = estimate(drawn(control=2.0), "control_ratio")
    assert found.low < 2 < found.high
    assert found.high / found.low < 1.1


def test_the_noise_floor_is_in_time_per_token() -> None:
    """Catches a floor of whole seconds, which would say that the bench is not level where only the texts differ."""
    floor = noise_floor(frames_of(drawn()), "speedup_decode")
    assert floor is not None
    assert floor.low is not None
    assert floor.low < 1 < (floor.high or 0)
    assert (floor.high or 0) / floor.low < 1.1


def test_a_prompt_row_speaks_of_all_draws() -> None:
    """Catches one draw taken for all: a loop in any of them is said."""
    made = drawn()
    looped = tuple(fact.model_copy(update={"degenerate": (fact.arm, fact.prompt, fact.trial) == ("plain", "ru-03", 1)}) for fact in made.requests)
    rows = {row.prompt: row for row in build(made.model_copy(update={"requests": looped})).prompts}
    assert rows["ru-03"].degenerate
    assert not rows["ru-04"].degenerate
    assert rows["ru-04"].emitted == sum(f.emitted for f in made.requests if f.prompt == "ru-04" and f.arm == "speculative")


def test_draws_without_decode_time_are_counted_out_loud() -> None:
    """Catches pairs that leave silently: an answer of one token has no decode time, its pair leaves as a whole."""
    made = drawn()

    def short(fact: RequestFact) -> RequestFact:
        if (fact.arm, fact.prompt, fact.trial) != ("plain", "ru-02", 0):
            return fact
        one = {"emitted": 1, "undrafted": 0, "step_tokens": (1,), "step_end": fact.step_end[:1], "last_at": fact.first_at, "output_ids": (7,)}
        return fact.model_copy(update=one)

    cell = build(made.model_copy(update={"requests": tuple(map(short, made.requests))})).find("speedup_decode")
    assert isinstance(cell, Figure)
    assert cell.left_out is not None
    assert "1 of 40 pairs" in say(cell.left_out)
    assert cell.pooled.n == 10


def under_load(blocks: int, *, same_seed: bool = False) -> RunRecord:
    spec = run_spec(sampling=SAMPLING, verifier={"name": "rejection"}, load={"concurrency": 4}, trials=3)
    made = load_record(spec=spec, blocks=blocks, slow=0.6)
    seeded = tuple(fact.model_copy(update={"seed": 1 if same_seed else 1 + fact.trial}) for fact in made.requests)
    return made.model_copy(update={"requests": seeded})


def test_under_load_neighbours_share_seeds_and_throughput_stays_the_headline() -> None:
    """Catches pairs of trials that drew different work, seeds counted per trial instead of per pair, and a noise floor that wants equal seeds."""
    report = build(under_load(3))
    assert report.headline == "speedup_throughput"
    assert report.verdict.outcome == "pays"
    assert seeds_of(frames_of(under_load(3)), report.headline) == 6
    apart = under_load(3)
    apart = apart.model_copy(update={"requests": tuple(f.model_copy(update={"seed": f.seed + 50 * (f.arm == "plain")}) for f in apart.requests)})
    assert isinstance(build(apart).find("speedup_throughput"), Absent)


def test_one_seed_drawn_again_and_again_gives_no_verdict_under_load() -> None:
    """Catches repeats of one draw taken for draws."""
    assert build(under_load(3, same_seed=True)).verdict.causes == ("few seeds",)
