"""What llama-server tells, against the counts of its recorded answers and of its counters around each of them."""

import json

import pytest

from app.domain.outside import llama_cpp
from app.domain.outside.imported import summed
from app.domain.outside.prometheus import Moved, difference, parse
from app.domain.outside.untrusted import NotUnderstood
from tests.app.domain.outside.answers import LLAMA, LLAMA_STOPPED, llama, llama_metrics

NONE = (0, 0, 0, 0, 0)


def moved(*after: int, kept_at: tuple[int, ...] = ()) -> Moved:
    before, last = (parse(text, llama_cpp.PREFIX) for text in (llama_metrics(*NONE), llama_metrics(*after[:5], kept_at)))
    return difference(before, last)


@pytest.mark.parametrize("name", LLAMA)
def test_each_recorded_answer(name: str) -> None:
    """Catches rounds that no answer tells, and 0 drafts where the keys are absent."""
    emitted, _, verified, drafted, _ = LLAMA[name]
    reading = llama_cpp.timings(llama(emitted, verified, drafted))
    c = reading.counts
    assert (c.emitted, c.prefill_tokens, c.rounds, c.undrafted) == (emitted, 1, None, None)
    assert (c.drafted, c.verified, reading.drafted_source) == ((drafted, verified, "observed") if drafted else (None, None, "absent"))
    missing = {each.count for each in reading.absent}
    assert missing == {"rounds"} if drafted else {"rounds", "drafted", "verified"}


@pytest.mark.parametrize("name", LLAMA)
def test_counters_around_each_recorded_request(name: str) -> None:
    """Catches decode calls that are taken for steps without a draft although some verified, which the server's own help denies."""
    emitted, rounds, verified, drafted, calls = LLAMA[name]
    reading = llama_cpp.counters(moved(*LLAMA[name]), requests=1, prompt_calls=1)
    c = reading.counts
    assert (c.emitted, c.rounds, c.verified, c.drafted, c.undrafted) == (emitted, rounds, verified, drafted, calls - 1 - rounds)
    assert (str(reading.closure), c.broken(), reading.absent) == ("closes", [], ())


def test_counters_around_all_of_them() -> None:
    """Catches positions that are lost or added to each other: their sum is V."""
    total = [sum(column) for column in zip(*LLAMA.values(), strict=True)]
    assert total == [433, 35, 177, 258, 256]
    c = llama_cpp.counters(moved(*total, kept_at=(31, 28, 25, 23, 19, 18, 17, 16)), requests=8, prompt_calls=8).counts
    assert (c.undrafted, c.kept_at, c.broken(), str(c.closure())) == (213, (31, 28, 25, 23, 19, 18, 17, 16), [], "closes")


@pytest.mark.parametrize("name", LLAMA_STOPPED)
def test_a_stop_string_inside_a_draft(name: str) -> None:
    """Catches more tokens kept than delivered (8 of 5) passing for counts that do not close."""
    *counts, lost = LLAMA_STOPPED[name]
    reading = llama_cpp.counters(moved(*counts), requests=1, prompt_calls=1, longest_draft=8)
    assert str(reading.closure) == f"closes with overshoot {lost}"
    assert llama_cpp.timings(llama(counts[0], counts[2], counts[3])).counts.broken() == []


def test_a_plain_server_has_counted_nothing() -> None:
    """Catches a plain server's steps being lost: 425 of 433 tokens come from steps without a draft."""
    c = llama_cpp.counters(moved(433, 0, 0, 0, 433), requests=8, prompt_calls=8).counts
    assert (c.rounds, c.drafted, c.undrafted, c.kept_at, str(c.closure())) == (0, 0, 425, None, "closes")


def test_requests_that_share_decode_calls() -> None:
    """Catches steps without a draft made up for requests that ran at the same time, and calls that are too few read as a count below 0."""
    assert llama_cpp.counters(moved(531, 48, 226, 366, 161), requests=10).counts.undrafted is None
    with pytest.raises(NotUnderstood, match="50 decode calls are fewer than 10 for prompts and 48 for rounds"):
        llama_cpp.counters(moved(531, 48, 226, 366, 50), requests=10, prompt_calls=10)


def test_an_answer_without_drafts_among_others() -> None:
    """Catches a whole run without acceptance because one short answer had nothing to draft from, whose keys are then left out."""
    readings = llama_cpp.nothing_drafted([llama_cpp.timings(llama(each[0], each[2], each[3])) for each in LLAMA.values()])
    total = summed(readings)
    assert (total.counts.emitted, total.counts.verified, total.counts.drafted, total.drafted_source) == (433, 177, 258, "observed")
    assert (readings[0].counts.rounds, [each.count for each in readings[0].absent]) == (0, [])


def test_renamed_draft_keys_are_absent() -> None:
    """Catches 0 of 0 drafts out of a server that gave its keys other names: no answer proves that it writes the known ones."""
    body = llama(64, 9, 36)
    body["timings"] = {key.replace("draft_n", "n_draft"): value for key, value in body["timings"].items()}  # type: ignore[attr-defined]
    readings = llama_cpp.nothing_drafted([llama_cpp.timings(body)] * 2)
    assert [(each.counts.drafted, each.counts.verified, each.drafted_source) for each in readings] == [(None, None, "absent")] * 2
    assert {"timings.draft_n", "timings.draft_n_accepted"} <= {name for each in readings[0].absent for name in each.looked_for}


def test_renamed_counters_are_absent() -> None:
    """Catches a run of zeros from counters that are not there."""
    texts = [llama_metrics(*counts).replace("spec_decode_num", "draft") for counts in (NONE, (64, 5, 9, 36, 55))]
    reading = llama_cpp.counters(difference(*(parse(text, llama_cpp.PREFIX) for text in texts)), requests=1, prompt_calls=1)
    assert (reading.counts.emitted, reading.counts.rounds, reading.counts.drafted, reading.counts.verified, reading.counts.undrafted) == (
        64,
        *[None] * 4,
    )
    assert {each.count for each in reading.absent} == {"rounds", "drafted", "verified", "undrafted"}


@pytest.mark.parametrize(("value", "said"), [(True, "draft_n"), (36.0, "draft_n"), (-1, "draft_n"), ("36", "draft_n"), (10**400, "draft_n")])
def test_a_count_is_a_whole_number(value: object, said: str) -> None:
    """Catches true for 1 and text for a number."""
    body = {"timings": {"predicted_n": 64, "draft_n": value, "draft_n_accepted": 9}}
    with pytest.raises(NotUnderstood, match=rf"timings\.{said} is to be a whole number from 0"):
        llama_cpp.timings(body)


@pytest.mark.parametrize(
    ("arguments", "flag"),
    [
        (["-md", "draft.gguf", "--spec-synth-rates", "0.8,0.5,0.2"], "--spec-synth-rates"),
        (["--spec-synth-len=2.5"], "--spec-synth-len"),
        (["--spec-type", "ngram-simple"], None),
    ],
)
def test_acceptance_that_is_made_up(arguments: list[str], flag: str | None) -> None:
    """Catches a figure of the engine's test mode that passes for measured."""
    assert llama_cpp.forced(arguments) == flag
    assert llama_cpp.timings(llama(64, 9, 36), forced=flag).forced == flag


def test_every_slot_speculates_or_the_server_does_not() -> None:
    """Catches a server that serves plainly because its draft model did not fit: it says so in /slots alone."""
    slots = [{"id": 0, "n_ctx": 2048, "speculative": True}, {"id": 1, "n_ctx": 2048, "speculative": False}]
    assert llama_cpp.speculates(slots[:1])
    assert not llama_cpp.speculates(slots)
    for unknown in ([], {}, [{"id": 0}], [{"speculative": 1}], None):
        with pytest.raises(NotUnderstood, match="speculative"):
            llama_cpp.speculates(unknown)


def test_what_a_slot_holds() -> None:
    """Catches the model's own length, and the largest of unequal slots, told of a sequence that has less room."""
    slots = [{"id": 0, "n_ctx": 2048}, {"id": 1, "n_ctx": 768}]
    assert llama_cpp.slot_context(slots) == 768
    for unknown in ([], {}, None, [{"id": 0}], [{"n_ctx": True}], [{"n_ctx": 0}], [*slots, {"id": 2}], [1]):
        assert llama_cpp.slot_context(unknown) is None


def test_the_build() -> None:
    """Catches a passport without the build that /props names."""
    assert llama_cpp.build(json.loads('{"build_info": "b11434-515e85511", "model_ftype": "Q4_1"}')) == "b11434-515e85511"
    assert llama_cpp.build({}) is None
