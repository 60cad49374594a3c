"""What TensorRT-LLM tells, by position. The scrapes are written from its documented interface; it was not run."""

import pytest

from app.domain.outside import tensorrt_llm
from app.domain.outside.prometheus import difference, parse
from app.domain.outside.reading import Reading
from app.domain.outside.untrusted import NotUnderstood

DRAFTED, KEPT = "trtllm_spec_decode_drafted_tokens_total", "trtllm_spec_decode_accepted_tokens_total"


def scrape(scale: int, *, positions: bool = True, iterations: bool = True, first: int = 0) -> str:
    own = 'engine_type="trtllm",model_name="m"'
    lines = [
        f'trtllm_request_success_total{{{own},finished_reason="stop"}} {2 * scale}.0',
        f'trtllm_request_success_total{{{own},finished_reason="length"}} {1 * scale}.0',
        f"trtllm_generation_tokens_total{{{own}}} {150 * scale}.0",
        f"trtllm_spec_decode_acceptance_length{{{own}}} 2.9",
        f"trtllm_avg_decoded_tokens_per_iter{{{own}}} 2.5",
        f'trtllm_speculative_config_info{{{own},spec_enabled="true",spec_method="Eagle",spec_num_tokens="3"}} 1.0',
    ]
    if iterations:
        lines += [
            f"trtllm_spec_decode_num_draft_tokens_total{{{own}}} {170 * scale}",
            f"trtllm_spec_decode_num_accepted_tokens_total{{{own}}} {90 * scale}",
        ]
    if positions:
        for place, (drafted, kept) in enumerate(((60, 45), (60, 27), (40, 15))):
            lines += [
                f'{DRAFTED}{{{own},token_position="{first + place}"}} {drafted * scale}',
                f'{KEPT}{{{own},token_position="{first + place}"}} {kept * scale}',
            ]
    return "\n".join(lines) + "\n"


def read(before: str, after: str) -> Reading:
    return tensorrt_llm.counters(difference(parse(before, tensorrt_llm.PREFIX), parse(after, tensorrt_llm.PREFIX)))


def test_counts_by_position() -> None:
    """Catches rounds that were drafted less deep taken for rejections: position 2 was drafted 40 times in 60 rounds."""
    reading = read(scrape(1), scrape(2))
    c = reading.counts
    assert (c.requests, c.emitted, c.rounds, c.drafted, c.verified) == (3, 150, 60, 160, 87)
    assert (c.drafted_at, c.kept_at, c.broken(), reading.absent) == ((60, 60, 40), (45, 27, 15), [], ())
    assert str(reading.closure) == "closes"


def test_iterations_alone_have_no_rounds() -> None:
    """Catches tokens per round out of a gauge of the last iteration."""
    reading = read(scrape(1, positions=False), scrape(2, positions=False))
    c = reading.counts
    assert (c.rounds, c.drafted, c.verified, c.kept_at, c.drafted_at) == (None, 170, 90, None, None)
    assert [(each.count, each.looked_for) for each in reading.absent] == [("rounds", (DRAFTED,))]


def test_gauges_alone_are_nothing() -> None:
    """Catches any count of drafts that comes from a gauge."""
    reading = read(scrape(1, positions=False, iterations=False), scrape(2, positions=False, iterations=False))
    assert (reading.counts.drafted, reading.counts.verified, reading.drafted_source) == (None, None, "absent")


def test_places_that_do_not_begin_at_0() -> None:
    """Catches a change of their numbering read as if nothing had changed."""
    with pytest.raises(NotUnderstood, match=f"The places under token_position of {DRAFTED} are to run from 0"):
        read(scrape(1, first=1), scrape(2, first=1))


def test_a_scrape_without_requests() -> None:
    """Catches totals over nobody knows how many requests."""
    texts = [scrape(scale).replace("request_success", "requests") for scale in (1, 2)]
    with pytest.raises(NotUnderstood, match="do not have trtllm_request_success_total"):
        read(*texts)


@pytest.mark.parametrize(("value", "made_up"), [("3", True), ("2.62", True), ("0", False), ("", False)])
def test_acceptance_that_is_made_up(value: str, made_up: bool) -> None:
    """Catches a figure of the engine's test mode that passes for measured."""
    name = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
    assert tensorrt_llm.forced({name: value}) == (name if made_up else None)
