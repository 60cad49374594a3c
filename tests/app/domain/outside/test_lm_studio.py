"""What LM Studio and a server of the bare OpenAI interface tell. LM Studio's answers are written from its documents; it was not run."""

import pytest

from app.domain.outside import lm_studio, openai
from app.domain.outside.untrusted import NotUnderstood

STATS = {
    "tokens_per_second": 127.26,
    "draft_model": "deepseek-r1-distill-qwen-0.5b",
    "total_draft_tokens_count": 20,
    "accepted_draft_tokens_count": 15,
    "rejected_draft_tokens_count": 4,
    "ignored_draft_tokens_count": 1,
}


def body(**stats: object) -> dict[str, object]:
    return {"usage": {"prompt_tokens": 18, "completion_tokens": 37, "total_tokens": 55}, "stats": STATS | stats}


def test_ignored_drafts_were_never_in_front_of_the_verifier() -> None:
    """Catches drafts that were not sent to the main model counted as rejected ones, and rounds that LM Studio does not tell."""
    reading = lm_studio.stats(body())
    c = reading.counts
    assert (c.emitted, c.drafted, c.verified, c.rounds, reading.ignored) == (37, 19, 15, None, 1)
    assert ([each.count for each in reading.absent], c.broken()) == (["rounds"], [])


@pytest.mark.parametrize(
    ("lacking", "drafted"),
    [
        (("total_draft_tokens_count", "ignored_draft_tokens_count"), 19),
        (("rejected_draft_tokens_count",), 19),
        (("ignored_draft_tokens_count",), 19),
        (("rejected_draft_tokens_count", "ignored_draft_tokens_count"), None),
    ],
)
def test_verified_drafts_follow_from_any_two_parts(lacking: tuple[str, ...], drafted: int | None) -> None:
    """Catches a total that may hold ignored drafts taken for what was verified."""
    reading = lm_studio.stats(body(**dict.fromkeys(lacking)))
    assert (reading.counts.drafted, reading.drafted_source == "absent") == (drafted, drafted is None)


def test_without_a_draft_model() -> None:
    """Catches 0 drafts out of an answer that tells of none."""
    answer = body()
    answer["stats"] = {"tokens_per_second": 51.4, "stop_reason": "eosFound"}
    reading = lm_studio.stats(answer)
    assert (reading.counts.drafted, reading.counts.verified, reading.ignored, reading.drafted_source) == (None, None, None, "absent")
    assert {each.count for each in reading.absent} == {"rounds", "drafted", "verified"}


def test_parts_that_are_not_the_whole() -> None:
    """Catches a change of what the total is of."""
    with pytest.raises(NotUnderstood, match=r"do not add up to stats\.total_draft_tokens_count"):
        lm_studio.stats(body(ignored_draft_tokens_count=2))
    with pytest.raises(NotUnderstood, match="do not add up"):
        lm_studio.stats(body(rejected_draft_tokens_count=None, ignored_draft_tokens_count=21))


def test_the_bare_interface_has_a_length_alone() -> None:
    """Catches acceptance out of predicted outputs, which are the caller's drafts and not a drafter's."""
    details = {"accepted_prediction_tokens": 30, "rejected_prediction_tokens": 4}
    reading = openai.usage({"usage": {"completion_tokens": 64, "completion_tokens_details": details}})
    c = reading.counts
    assert (c.emitted, c.rounds, c.drafted, c.verified, reading.drafted_source) == (64, None, None, None, "absent")
    assert [each.looked_for for each in reading.absent] == [("usage",)] * 3
