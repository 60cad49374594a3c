"""Acceptance by place, and speed-up by window, from answers small enough to count by hand."""

from typing import Any

import pandas as pd
import pytest

from app.domain.facts import RequestFact
from app.metrics.catalogue import METRICS, points
from app.metrics.frame import from_facts
from app.metrics.places import ALONG, BEFORE, name_of
from app.metrics.spans import spans
from tests.factories import request_fact, requests, trial_fact


def answer(rounds: list[tuple[int, int] | None], *, step: float = 1.0, **over: Any) -> RequestFact:
    """A prefill token, then a step for each entry: (drafted, kept), or None for one without a draft. Each step takes `step` seconds."""
    made = [each for each in rounds if each is not None]
    tokens = [1, *[1 if each is None else each[1] + 1 for each in rounds]]
    ends = tuple(1.0 + step * i for i in range(len(tokens)))
    drafted, kept = tuple(d for d, _ in made), tuple(k for _, k in made)
    body: dict[str, Any] = {
        "emitted": sum(tokens), "drafted": sum(drafted), "verified": sum(kept), "accepted": sum(kept), "rounds": len(made), "prefill_tokens": 1,
        "undrafted": len(rounds) - len(made), "longest_draft": max(drafted, default=0), "round_drafted": drafted, "round_verified": kept,
        "round_depth": drafted, "round_slots": (1,) * len(made), "round_step": tuple(i + 1 for i, each in enumerate(rounds) if each is not None),
        "step_tokens": tuple(tokens), "step_end": ends, "sent_at": 0.0, "first_at": ends[0], "last_at": ends[-1], "finish": "length",
        "tokens": sum(tokens), "input_tokens": 60,
    }  # fmt: skip
    return request_fact(**(body | over))


def plain(tokens: int, *, step: float = 1.0, **over: Any) -> RequestFact:
    return answer([None] * (tokens - 1), step=step, arm="plain", **over)


def test_the_prefill_token_and_steps_without_a_draft_move_later_rounds() -> None:
    """Positions: 1 from the prefill, so the first draft stands at 2; a kept draft and its token make 4; two undrafted steps push on."""
    rounds = from_facts([answer([(2, 1), None, None, (3, 0), (2, 2)])]).rounds
    assert rounds["position"].tolist() == [2, 6, 7]
    assert rounds["context"].tolist() == [61, 65, 66]


def test_a_round_belongs_to_where_its_first_draft_stands() -> None:
    """Catches a bucket taken from the end of a round, and undrafted steps that are left out of the count."""
    found = points([answer([(4, 3), *[None] * 27, (4, 1), (4, 0), (2, 2)])])
    # The rounds begin at 2, 33, 35 and 36: one token from the prefill, 4 and 27 of steps before the second.
    assert found["acceptance_by_position[1–32]"] == pytest.approx(3 / 4)
    assert found["acceptance_by_position[33–64]"] == pytest.approx(3 / 10)
    assert found["acceptance_by_context[1–64]"] == pytest.approx(3 / 4)
    assert found["acceptance_by_context[65–128]"] == pytest.approx(3 / 10)


def test_buckets_add_up_to_the_whole() -> None:
    """Catches a round that falls between two buckets or into both."""
    measured = requests(prompts=8, passes=2, tokens=96)
    frames = from_facts(measured)
    (whole, *_) = METRICS["acceptance_rate"].compute(frames)
    sums = METRICS["acceptance_by_position"].sums
    assert sums is not None
    found = sums(frames)
    assert len(found) == 3
    assert sum(each.rounds or 0 for each in found) == whole.rounds
    verified, drafted = (sum(each.table.iloc[:, i].sum() for each in found) for i in (0, 1))
    assert verified / drafted == pytest.approx(whole.pooled.point)


def test_prompts_are_the_clusters_of_a_bucket() -> None:
    """Catches rounds counted as if they were independent; prompts without a round so late are not in the late bucket."""
    long = [answer([(4, 3)] * 20, prompt=f"ru-{i:02}") for i in range(1, 8)]
    short = [answer([(4, 3 - i)] * 3, prompt=f"ru-{i:02}") for i in range(1, 3)]
    early, *later = METRICS["acceptance_by_position"].compute(from_facts(long[2:] + short))
    assert early.pooled.n == 7
    assert early.pooled.low is not None
    assert {each.pooled.n for each in later} == {5}
    assert all(each.pooled.low is None and each.pooled.reason is not None for each in later)


def test_rounds_of_unknown_place_give_a_reason_and_no_number() -> None:
    """A round that kept nothing and a step without a draft both deliver one token: guessing which was which would shift every later round."""
    known, unknown = answer([(4, 0), None]), answer([None, (4, 0)], prompt="ru-02", round_step=None)
    (found,) = METRICS["acceptance_by_position"].compute(from_facts([known, unknown]))
    assert found.pooled.point is None
    assert "which steps were rounds" in str(found.pooled.reason)


def test_an_engine_that_does_not_tell_the_length_of_its_input_has_no_context() -> None:
    found = points([answer([(4, 2)], input_tokens=None)])
    assert found["acceptance_by_context"] is None
    assert found["acceptance_by_position[1–32]"] == pytest.approx(1 / 2)


def test_names_of_buckets_touch() -> None:
    for ends in (ALONG, BEFORE):
        names = [name_of(i, ends) for i in range(len(ends) + 1)]
        lasts = [int(name.split("–")[1]) for name in names[:-1]]
        firsts = [int(name.split("–")[0]) for name in names[1:-1]] + [int(names[-1].removeprefix("≥ "))]
        assert firsts == [last + 1 for last in lasts]


# 5 tokens a round; 7 rounds are the fewest that deliver 32, so a window is 35 tokens.
ROUNDS: list[tuple[int, int] | None] = [(4, 4)] * 15


def pair(prompt: str = "ru-01", trial: int = 0, **over: Any) -> list[RequestFact]:
    """76 tokens: 1 and two windows of 35, and 5 in none. A round takes 2 s, a plain step 1 s."""
    return [answer(ROUNDS, step=2.0, prompt=prompt, trial=trial, **over), plain(76, prompt=prompt, trial=trial, **over)]


def test_windows_by_hand() -> None:
    """35 plain steps of 1 s against 7 rounds of 2 s; the rest behind the last window is in none."""
    found = spans(from_facts(pair()))
    assert found[["first", "last"]].to_numpy().tolist() == [[2, 36], [37, 71]]
    assert found["speedup"].tolist() == pytest.approx([35 / 14, 35 / 14])


def test_a_window_is_of_whole_steps() -> None:
    """Catches windows cut at exactly 32 tokens, whose last round would be paid by one window and delivered in the next."""
    found = spans(from_facts([answer([*[(4, 0)] * 31, (4, 4), *[(4, 1)] * 16]), plain(69)]))
    assert found[["first", "last"]].to_numpy().tolist() == [[2, 37], [38, 69]]
    assert found["speedup"].tolist() == pytest.approx([36 / 32, 32 / 16])


def test_the_same_window_of_many_passes_is_one_window() -> None:
    """Catches repeats that are counted as more text; a disturbed moment of one pass in three does not move the median."""
    slow = [fact.model_copy(update={"step_end": (1.0, *(end + 100 for end in fact.step_end[1:]))}) for fact in pair(trial=2)]
    slow = [RequestFact.model_validate(fact.model_dump() | {"last_at": fact.step_end[-1]}) for fact in slow]
    found = spans(from_facts(pair(trial=0) + pair(trial=1) + slow))
    assert found["speedup"].tolist() == pytest.approx([35 / 14, 35 / 14])


def test_quantiles_need_windows_and_the_largest_is_no_figure() -> None:
    """Twenty windows show p5 and p95; two do not; no cell holds the maximum."""
    many = points([fact for i in range(1, 11) for fact in pair(f"ru-{i:02}")])
    assert [many[f"window_speedup[{q}]"] for q in ("p5", "p50", "p95")] == pytest.approx([2.5] * 3)
    few = points(pair())
    assert few["window_speedup[p5]"] is None
    assert few["window_speedup[p50]"] == pytest.approx(2.5)
    assert {key for key in many if key.startswith("window_speedup")} == {f"window_speedup[{q}]" for q in ("p5", "p50", "p95")}


def test_answers_that_differ_have_no_windows() -> None:
    """The same positions of two different texts are not the same work."""
    other = answer(ROUNDS, step=2.0, prompt="ru-02")
    different = plain(76, prompt="ru-02").model_copy(update={"output_digest": "0" * 64})
    found = spans(from_facts([*pair(), other, different]))
    assert set(found["prompt"]) == {"ru-01"}
    assert METRICS["window_speedup"].compute(from_facts(pair(), sampled=True))[0].pooled.point is None


def test_disturbed_blocks_have_no_windows() -> None:
    facts = pair(trial=0) + [fact for fact in pair(trial=2) if fact.arm == "plain"]
    rows = [trial_fact(arm=arm, trial=trial, block=trial // 2, contended=trial == 0) for arm in ("plain", "speculative") for trial in (0, 2)]
    assert spans(from_facts(facts, rows)).empty


def test_no_answer_long_enough_is_said() -> None:
    (found,) = METRICS["window_speedup"].compute(from_facts([answer([(4, 2)] * 5), plain(16)]))
    assert found.pooled.point is None
    assert "long enough" in str(found.pooled.reason)
    assert isinstance(spans(from_facts([])), pd.DataFrame)
