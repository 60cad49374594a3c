"""The real counts of definitions § 6, through the readers of the engines that told them, and the figures that come of them."""

import pytest

from app.domain.outside import sglang, vllm
from app.domain.outside.prometheus import difference, parse
from app.domain.outside.reading import Reading
from app.metrics.catalogue import METRICS
from app.metrics.frame import from_counts
from tests.app.domain.outside import answers
from tests.app.domain.outside.answers import vllm_metrics


def counted(*counts: int, kept_at: tuple[int, ...], prompt_steps: int | None = None) -> Reading:
    zero = vllm_metrics(0, 0, 0, 0, 0, 0, (0,) * len(kept_at))
    before, after = (parse(text, vllm.PREFIX) for text in (zero, vllm_metrics(*counts, kept_at)))
    return vllm.counters(difference(before, after), prompt_steps=prompt_steps)


def figure(id: str, reading: Reading) -> float:
    (found,) = METRICS[id].compute(from_counts(reading.counts))
    assert found.pooled.point is not None
    return found.pooled.point


KEPT_OF_7 = (4000, 3000, 2000, 1500, 1000, 508, 200)


def test_prefill_token_inside_the_emitted() -> None:
    """Catches 200/188 = 1.0638 tokens per round."""
    meta = {"completion_tokens": 200, "spec_verify_ct": 188, "spec_accept_token_num": 11, "spec_draft_token_num": 940}
    reading = sglang.meta_info({"meta_info": meta})
    assert figure("tokens_per_round", reading) == pytest.approx(1.0585, abs=5e-5)
    assert figure("acceptance_rate", reading) == pytest.approx(0.0117, abs=5e-5)
    assert (str(reading.closure), reading.closure.prefill) == ("closes", 1)


def test_counted_but_never_emitted() -> None:
    """Catches a refusal of counts that vLLM is known to take before it stops."""
    reading = counted(16990, 4816, 12208, 33712, 0, 80, kept_at=KEPT_OF_7)
    assert (str(reading.closure), reading.closure.suspect, reading.counts.broken()) == ("closes with overshoot 114", False, [])
    assert figure("acceptance_rate", reading) == pytest.approx(0.362, abs=5e-4)
    assert figure("tokens_per_round", reading) == pytest.approx(3.535, abs=5e-4)


def test_truly_open() -> None:
    """Catches 1096 tokens that no step explains, where the server's steps are all rounds."""
    reading = counted(18200, 4816, 12208, 33712, 80 + 4816, 80, kept_at=KEPT_OF_7, prompt_steps=80)
    assert (reading.counts.undrafted, str(reading.closure), reading.closure.suspect) == (0, "does not close by 1096", True)


def test_rounds_without_a_draft_hidden() -> None:
    """Catches 4.587 tokens per round without the 2.96 that a forward really gave. Of the 821 tokens that no draft gave, one is the prefill's here."""
    reading = counted(5376, 993, 3562, 4960, 1 + 993 + 820, 1, kept_at=(900, 800, 700, 600, 562), prompt_steps=1)
    assert (reading.counts.undrafted, str(reading.closure)) == (820, "closes")
    assert figure("tokens_per_round", reading) == pytest.approx(4.587, abs=5e-4)
    assert figure("tokens_per_target_forward", reading) == pytest.approx(2.96, abs=5e-3)


def test_short_histogram() -> None:
    """Catches R, V and D of another request than its histogram's."""
    spec = {
        "acceptance_histogram": [39, 1, 0, 3],
        "num_spec_steps": 43,
        "num_accepted_draft_tokens": 10,
        "num_draft_tokens": 129,
        "num_spec_tokens": 3,
    }
    reading = vllm.speculative_decoding(answers.vllm(60, spec))
    assert (reading.counts.rounds, reading.counts.verified, reading.counts.drafted, reading.counts.broken()) == (43, 10, 129, [])
    assert figure("tokens_per_round", reading) == pytest.approx(1.23256, abs=5e-6)
    assert figure("acceptance_rate", reading) == pytest.approx(0.07752, abs=5e-6)


def test_rate_above_1() -> None:
    """Catches a bonus token counted as kept."""
    spec = {"num_spec_steps": 43, "num_accepted_draft_tokens": 213, "num_draft_tokens": 200, "num_spec_tokens": 5}
    broken = vllm.speculative_decoding(answers.vllm(260, spec)).counts.broken()
    assert broken == ["V ≤ D is broken: 213 kept of 200 drafted; the bonus token was probably counted"]
