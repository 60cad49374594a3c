"""What vLLM tells, against the counts of its recorded answers and of its counters around each of them."""

import pytest

from app.domain.outside import vllm
from app.domain.outside.imported import summed
from app.domain.outside.prometheus import Moved, difference, parse
from app.domain.outside.reading import Absent
from app.domain.outside.untrusted import NotUnderstood
from tests.app.domain.outside import answers
from tests.app.domain.outside.answers import EN2, VLLM, vllm_metrics

NONE = (0, 0, 0, 0, 0, 0)


def moved(*texts: str) -> Moved:
    before, after = (parse(text, vllm.PREFIX) for text in texts)
    return difference(before, after)


def body(name: str) -> dict[str, object]:
    emitted, rounds, verified, drafted, *_ = VLLM[name]
    spec = {"num_spec_steps": rounds, "num_accepted_draft_tokens": verified, "num_draft_tokens": drafted, "num_spec_tokens": 4}
    return answers.vllm(emitted, spec)


@pytest.mark.parametrize("name", VLLM)
def test_each_recorded_answer(name: str) -> None:
    """Catches a count read under another's name; the tokens of a last draft that were never delivered are no fault."""
    emitted, rounds, verified, drafted, *_ = VLLM[name]
    reading = vllm.speculative_decoding(body(name))
    c = reading.counts
    assert (c.emitted, c.prefill_tokens, c.rounds, c.verified, c.drafted, c.undrafted) == (emitted, 1, rounds, verified, drafted, None)
    assert (c.broken(), reading.absent, reading.closure.suspect) == ([], (), False)


def test_the_recorded_answers_together() -> None:
    """Catches a sum of bodies that differs from the server's own counters, 424 tokens and 182 of 278."""
    total = summed([vllm.speculative_decoding(body(name)) for name in VLLM]).counts
    assert (total.emitted, total.rounds, total.verified, total.drafted) == (424, 70, 182, 278)


@pytest.mark.parametrize("name", VLLM)
def test_counters_around_each_recorded_request(name: str) -> None:
    """Catches steps without a draft that include the prompt's, and an overshoot of another size than measured chunk by chunk."""
    emitted, rounds, verified, drafted, steps, lost = VLLM[name]
    kept_at = (verified, 0, 0, 0) if verified <= rounds else tuple(verified // 4 + (i < verified % 4) for i in range(4))
    reading = vllm.counters(
        moved(vllm_metrics(*NONE), vllm_metrics(emitted, rounds, verified, drafted, steps, 1, kept_at)), prompt_steps=1
    )  # fmt: skip
    c = reading.counts
    assert (c.requests, c.emitted, c.prefill_tokens, c.undrafted) == (1, emitted, 1, steps - 1 - rounds)
    assert (c.rounds, c.verified, c.drafted, c.longest_draft, c.broken()) == (rounds, verified, drafted, 4, [])
    assert str(reading.closure) == (f"closes with overshoot {lost}" if lost else "closes")


def test_counters_around_all_of_them() -> None:
    """Catches a warm answer that is counted twice: 424 = 8 + 182 + 70 + 176 − 12."""
    reading = vllm.counters(
        moved(vllm_metrics(*NONE), vllm_metrics(424, 70, 182, 278, 254, 8, (55, 49, 46, 32))), prompt_steps=8
    )  # fmt: skip
    assert (reading.counts.undrafted, str(reading.closure), reading.counts.broken()) == (176, "closes with overshoot 12", [])


def test_rounds_one_by_one() -> None:
    """Catches depths read from the longest draft: one of the 11 rounds drafted 2 tokens only."""
    reading = vllm.speculative_decoding(answers.vllm(64, EN2))
    c = reading.counts
    assert (c.histogram, c.kept_at, c.drafted_at) == ((3, 1, 1, 6, 0), (8, 7, 6), (11, 11, 10, 10))
    assert c.broken() == []


def test_rounds_that_contradict_their_sum() -> None:
    """Catches lists of single rounds that say something else than the totals beside them."""
    c = vllm.speculative_decoding(answers.vllm(64, EN2 | {"per_step_drafted": [4] * 11})).counts
    assert c.broken() == ["the positions draft 44 tokens, D is 42"]


def test_null_is_not_zero() -> None:
    """Catches the answer that ended on a stop string read as one without drafts: the counters moved by R 4, V 12, D 16 meanwhile."""
    reading = vllm.speculative_decoding(answers.vllm(19, None))
    c = reading.counts
    assert (c.emitted, c.rounds, c.verified, c.drafted, reading.drafted_source) == (19, None, None, None, "absent")
    assert reading.absent == tuple(Absent(count=name, looked_for=("metrics.speculative_decoding",)) for name in ("rounds", "drafted", "verified"))


def test_a_renamed_key_is_absent() -> None:
    """Catches 0 for a count whose key has another name, and names the key that was looked for."""
    spec = {key.replace("num_draft_tokens", "num_drafted"): value for key, value in EN2.items()}
    reading = vllm.speculative_decoding(answers.vllm(64, spec))
    assert (reading.counts.drafted, reading.drafted_source, reading.counts.verified) == (None, "absent", 21)
    assert reading.absent == (Absent(count="drafted", looked_for=("metrics.speculative_decoding.num_draft_tokens",)),)


def test_a_plain_server_has_no_counters_of_drafts() -> None:
    """Catches zeros for a server that does not speculate; its steps without a draft cannot be told from rounds that nobody counted."""
    reading = vllm.counters(moved(vllm_metrics(0, None, 0, 0, 0, 0), vllm_metrics(424, None, 0, 0, 424, 8)), prompt_steps=8)
    c = reading.counts
    assert (c.emitted, c.rounds, c.drafted, c.verified, c.undrafted, c.longest_draft) == (424, *[None] * 5)
    assert {each.count for each in reading.absent} == {"rounds", "drafted", "verified", "undrafted"}


def test_ranks_are_one_server() -> None:
    """Catches the positions of one rank of two: all counters are added up, so their sum stays V."""
    texts = [
        "".join(vllm_metrics(*counts, kept_at, engine).replace("process_start", "ignored") for engine in "01")
        for counts, kept_at in ((NONE, (0, 0)), ((200, 50, 60, 100, 140, 4), (40, 20)))
    ]
    reading = vllm.counters(moved(*(text.replace("python_info", "p", 1) for text in texts)))
    c = reading.counts
    assert (c.requests, c.emitted, c.rounds, c.verified, c.kept_at, c.broken()) == (8, 400, 100, 120, (80, 40), [])


def test_positions_of_one_rank_alone_are_named() -> None:
    """Catches per-position rates that are half of what the rounds kept, as where a tool overwrites one rank by the other."""
    c = vllm.counters(moved(vllm_metrics(*NONE, (0, 0)), vllm_metrics(400, 100, 120, 200, 280, 8, (40, 20)))).counts
    assert c.broken() == ["the positions keep 60 drafts, V is 120; several engine ranks were perhaps not added up"]


def test_several_models() -> None:
    """Catches two models' tokens added up."""
    texts = [vllm_metrics(*NONE) + vllm_metrics(*NONE, model="other").split("seconds 1.79600117137e+09\n")[1]] * 2
    with pytest.raises(NotUnderstood, match=r"several models \(other, smollm2\)"):
        moved(*texts)
    before, after = (parse(text, vllm.PREFIX) for text in texts)
    assert vllm.counters(difference(before, after, model="other")).counts.emitted == 0
    with pytest.raises(NotUnderstood, match="not of the model third but of other, smollm2"):
        difference(before, after, model="third")


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ('finished_reason="abort",model_name="smollm2"} 0.0', 'finished_reason="abort",model_name="smollm2"} 1.0'),
        ('num_preemptions_total{engine="0",model_name="smollm2"} 0.0', 'num_preemptions_total{engine="0",model_name="smollm2"} 2.0'),
    ],
)
def test_a_prefill_that_gave_none_or_two(now: str, then: str) -> None:
    """Catches one token a prefill where a request was cut off before it, or was preempted and prefilled again."""
    after = vllm_metrics(424, 70, 182, 278, 254, 8, (55, 49, 46, 32))
    assert now in after
    assert vllm.counters(moved(vllm_metrics(*NONE), after.replace(now, then))).counts.prefill_tokens is None


def test_steps_that_are_too_few() -> None:
    """Catches a count below 0 for requests that shared their steps."""
    with pytest.raises(NotUnderstood, match="60 engine steps are fewer than 8 for prompts and 70 for rounds"):
        vllm.counters(moved(vllm_metrics(*NONE), vllm_metrics(424, 70, 182, 278, 60, 8)), prompt_steps=8)


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"method": "eagle3", "rejection_sample_method": "synthetic", "synthetic_acceptance_length": 2.5}, "rejection_sample_method=synthetic"),
        ({"method": "ngram", "synthetic_acceptance_rates": [0.8, 0.5]}, "synthetic_acceptance_rates"),
        ({"method": "ngram", "rejection_sample_method": "strict", "synthetic_acceptance_length": None}, None),
    ],
)
def test_acceptance_that_is_made_up(config: dict[str, object], key: str | None) -> None:
    """Catches a figure of the engine's test mode that passes for measured."""
    assert vllm.forced(config) == key
