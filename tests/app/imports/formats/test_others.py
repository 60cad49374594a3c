"""Formats whose tools were not run here: their files are written after the tools' sources."""

import json
from typing import Any

import pytest

from app.imports.formats.base import NotImported
from app.imports.open import FORMATS, imported
from tests.app.imports.samples import told

ENGLISH = "The boat left the harbour at dawn and came back in the evening, when the wind had risen."


def lines(*values: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(value) for value in values).encode()


def answer(question: int, *, lengths: list[int], new_tokens: list[int], turns: list[str] | None = None) -> dict[str, Any]:
    choice = {"index": 0, "turns": turns or ["x"] * len(new_tokens), "decoding_steps": [len(lengths)], "new_tokens": new_tokens}
    choice |= {"wall_time": [1.0] * len(new_tokens), "accept_lengths": lengths}
    return {"question_id": question, "category": "writing", "answer_id": "a", "model_id": "vicuna-7b-sps", "choices": [choice], "tstamp": 1.0}


def test_spec_bench_lengths_hold_the_targets_own_token() -> None:
    """Catches a mean length taken for kept drafts: 2.5 a round are 1.5 kept."""
    found = imported(lines(answer(81, lengths=[1, 4, 3], new_tokens=[5, 4]), answer(82, lengths=[2], new_tokens=[2])))
    assert (found.format, found.carried.target, told(found)) == ("spec-bench", "vicuna-7b-sps", (3, 11, 4, 6, None))
    assert found.total.counts.histogram == (1, 1, 1, 1)
    assert found.total.counts.broken() == []
    assert (str(found.total.closure), found.total.drafted_source) == ("closes", "absent")


def test_spec_bench_tokens_without_a_step_do_not_close() -> None:
    """Catches steps without a draft that are made up to explain tokens which no listed step gave."""
    found = imported(lines(answer(81, lengths=[3] * 10, new_tokens=[90])))
    assert (str(found.total.closure), found.total.closure.suspect) == ("does not close by 59", True)


def test_spec_bench_failed_answers_have_the_numbers_of_others() -> None:
    """Catches the last good answer's numbers counted once more for each that failed."""
    good, bad = answer(81, lengths=[3], new_tokens=[3]), answer(82, lengths=[3], new_tokens=[3], turns=["ERROR"])
    found = imported(lines(good, bad))
    assert (told(found), len(found.remarks)) == ((1, 3, 1, 2, None), 2)
    with pytest.raises(NotImported, match="No request"):
        imported(lines(bad))


def test_spec_bench_baseline_has_no_rounds() -> None:
    """Catches plain decoding imported as speculation that keeps nothing."""
    found = imported(lines(answer(81, lengths=[1] * 5, new_tokens=[5])))
    assert told(found) == (1, 5, None, None, None)
    assert {each.count for each in found.total.absent} == {"rounds", "drafted", "verified"}


def test_spec_bench_length_of_0_is_said_with_its_place() -> None:
    with pytest.raises(NotImported, match=r"^line 1, /choices/0/accept_lengths/1: "):
        imported(lines(answer(81, lengths=[1, 0], new_tokens=[5]), answer(82, lengths=[1], new_tokens=[1])))


@pytest.mark.parametrize(
    "names",
    [
        ("spec_num_correct_drafts", "spec_num_proposed_drafts"),
        ("spec_accepted_drafts", "spec_proposed_drafts"),
        ("spec_accept_token_num", "spec_draft_token_num"),
    ],
)
def test_sglang_in_three_generations(names: tuple[str, str]) -> None:
    """Catches E/R = 1.0638 called tokens per round, and a generation of names that reads as nothing."""
    kept, proposed = names
    body = {"text": "", "meta_info": {"id": "a", "completion_tokens": 200, "spec_verify_ct": 188, kept: 11, proposed: 940}}
    found = imported(json.dumps([body]).encode())
    assert (found.format, told(found)) == ("sglang-generate", (1, 200, 188, 11, 940))
    assert (str(found.total.closure), found.total.closure.prefill, found.total.drafted_source) == ("closes", 1, "nominal")


def test_sglang_of_two_generations_is_not_added_up() -> None:
    new = {"meta_info": {"id": "a", "completion_tokens": 9, "spec_verify_ct": 2, "spec_num_correct_drafts": 6}}
    old = {"meta_info": {"id": "b", "completion_tokens": 9, "spec_verify_ct": 2, "spec_accept_token_num": 6}}
    with pytest.raises(NotImported, match="several versions"):
        imported(lines(new, old))


def test_a_short_histogram_gives_its_counts() -> None:
    """Catches 43 rounds, 10 kept and 129 drafted coming out as anything else."""
    drafts = {
        "num_spec_steps": 43,
        "num_accepted_draft_tokens": 10,
        "num_draft_tokens": 129,
        "num_spec_tokens": 3,
        "acceptance_histogram": [39, 1, 0, 3],
    }
    body = {"id": "a", "model": "m", "usage": {"completion_tokens": 54}, "metrics": {"speculative_decoding": drafts}}
    found = imported(json.dumps(body).encode())
    assert (told(found), found.total.counts.broken(), str(found.total.closure)) == ((1, 54, 43, 10, 129), [], "closes")


def test_long_drafts_of_many_requests_are_stopped() -> None:
    """Catches a file of some kilobytes a request that takes gigabytes: one number asks for ten thousand places."""
    drafts = {"num_spec_steps": 1, "num_accepted_draft_tokens": 10_000, "num_draft_tokens": 10_000, "per_step_accepted": [10_000]}
    bodies = [{"id": str(n), "usage": {"completion_tokens": 9}, "metrics": {"speculative_decoding": drafts}} for n in range(201)]
    assert imported(lines(*bodies[:200])).total.counts.requests == 200
    with pytest.raises(NotImported, match="longer than any drafter"):
        imported(lines(*bodies))


def test_a_longest_draft_that_excuses_everything_is_refused() -> None:
    """Catches an overshoot of N·k with a k that no drafter has."""
    drafts = {"num_spec_steps": 9, "num_accepted_draft_tokens": 900, "num_draft_tokens": 900, "num_spec_tokens": 10**6}
    with pytest.raises(NotImported, match="longer than any drafter"):
        imported(lines({"usage": {"completion_tokens": 9}, "metrics": {"speculative_decoding": drafts}}))


def test_tensorrt_from_before_and_after() -> None:
    """Catches TensorRT-LLM's counters read under another engine's names."""
    series = 'trtllm_spec_decode_{0}_tokens_total{{token_position="{1}"}} {2}\n'

    def text(times: int) -> bytes:
        places = [("drafted", 0, 10), ("drafted", 1, 8), ("accepted", 0, 6), ("accepted", 1, 3)]
        said = "".join(series.format(name, place, value * times) for name, place, value in places)
        return f"{said}trtllm_generation_tokens_total {20 * times}\ntrtllm_request_success_total {times}\n".encode()

    found = imported(text(3), before=text(1))
    assert (found.format, told(found), found.total.counts.broken()) == ("tensorrt-metrics", (2, 40, 20, 18, 36), [])


@pytest.mark.parametrize("value", [{}, [], [1, 2], {"before": "x 1", "after": "x 2"}, {"timings": 1}, {"metrics": {}}, "text"])
def test_an_unknown_file_is_told_what_is_read(value: object) -> None:
    """Catches a file that is taken for something it is not, and a refusal that helps nobody."""
    with pytest.raises(NotImported) as error:
        imported(json.dumps(value).encode())
    assert all(name in str(error.value) for name in FORMATS)


def test_a_format_that_is_named_is_taken_at_its_word() -> None:
    """Catches a named format that is ignored, and one that is not there answered by a KeyError."""
    with pytest.raises(NotImported, match="total_output_tokens is missing"):
        imported(b'{"completed": 3}', format="vllm-bench-serve")
    with pytest.raises(NotImported, match="no such format"):
        imported(b"{}", format="vllm")


@pytest.mark.parametrize(
    "line",
    [
        {"text": ENGLISH, "meta_info": {"id": "a", "completion_tokens": 9, "spec_verify_ct": 3}},
        {"question_id": 1, "model_id": "m", "choices": [{"turns": [ENGLISH], "new_tokens": [9], "accept_lengths": [3, 3, 2]}]},
    ],
)
def test_the_answers_of_a_file_are_read_and_not_kept(line: dict[str, Any]) -> None:
    """Catches a format whose answers nobody reads, and a text among what is stored."""
    found = imported(json.dumps(line).encode())
    assert found.texts is not None
    assert (found.texts.answers, found.texts.in_latin) == (1, 1)
    assert ENGLISH[:20] not in found.model_dump_json()
