"""What SGLang tells, in the three generations of its key names. The answers are written from its documented interface; it was not run."""

import pytest

from app.domain.outside import sglang
from app.domain.outside.imported import summed
from app.domain.outside.reading import Absent
from app.domain.outside.untrusted import NotUnderstood

CHAIN = sglang.Server(version="0.5.23", draft_tokens=6, topk=1)
NAMES = {
    "≤ 0.5.10": ("spec_accept_token_num", "spec_draft_token_num", "spec_accept_histogram"),
    "0.5.11": ("spec_accepted_drafts", "spec_proposed_drafts", "spec_accept_histogram"),
    "≥ 0.5.12": ("spec_num_correct_drafts", "spec_num_proposed_drafts", "spec_correct_drafts_histogram"),
}


def answer(generation: str, *, emitted: int = 200, kept: int = 11, proposed: int = 940, rounds: int = 188) -> dict[str, object]:
    """An answer of /generate; the counts are those of one that a change of its counters was reported with."""
    accepted, drafted, histogram = NAMES[generation]
    meta: dict[str, object] = {
        "id": "1",
        "finish_reason": {"type": "length", "length": emitted},
        "prompt_tokens": 20,
        "completion_tokens": emitted,
        "spec_accept_rate": kept / proposed,
        "spec_accept_length": emitted / rounds,
        "spec_verify_ct": rounds,
        accepted: kept,
        drafted: proposed,
        histogram: [rounds - kept, kept],
    }
    if generation == "≥ 0.5.12":
        meta |= dict(zip(NAMES["0.5.11"], (kept, proposed, [rounds - kept, kept]), strict=True))
    return {"text": "", "meta_info": meta}


@pytest.mark.parametrize("generation", NAMES)
def test_each_generation_of_names(generation: str) -> None:
    """Catches 0.0 for acceptance because the keys moved, the prefill's token inside tokens per round (1.0638 for 1.0585), and D called counted."""
    reading = sglang.meta_info(answer(generation), server=CHAIN)
    c = reading.counts
    assert (reading.shape, reading.drafted_source, reading.tree, reading.absent) == (generation, "nominal", False, ())
    assert (c.emitted, c.rounds, c.verified, c.drafted, c.longest_draft, c.histogram) == (200, 188, 11, 940, 5, (177, 11))
    assert (c.broken(), str(reading.closure), reading.closure.prefill) == ([], "closes", 1)
    assert c.verified is not None
    assert c.rounds is not None
    assert (round(1 + c.verified / c.rounds, 4), round(c.verified / 940, 4)) == (1.0585, 0.0117)


def test_drafts_that_nobody_wrote_down() -> None:
    """Catches D = R·(draft tokens): the target's own token is among them."""
    body = answer("0.5.11")
    del body["meta_info"]["spec_proposed_drafts"]  # type: ignore[attr-defined]
    reading = sglang.meta_info(body, server=CHAIN)
    assert (reading.counts.drafted, reading.drafted_source) == (940, "nominal")
    unknown = sglang.meta_info(body)
    assert (unknown.counts.drafted, unknown.drafted_source) == (None, "absent")
    assert unknown.absent[0].count == "drafted"


def test_trees() -> None:
    """Catches nodes of a tree passing for a chain's drafts, and a tree that nobody told of passing for none."""
    tree = sglang.meta_info(answer("≥ 0.5.12"), server=sglang.Server(draft_tokens=6, topk=4))
    assert (tree.tree, tree.counts.longest_draft) == (True, None)
    assert sglang.meta_info(answer("≥ 0.5.12")).absent == (Absent(count="tree", looked_for=("speculative_eagle_topk",)),)


@pytest.mark.parametrize("generation", NAMES)
def test_unknown_names_are_absent(generation: str) -> None:
    """Catches 0 for counts under a fourth generation of names; every known one is named as looked for."""
    body = answer(generation)
    body["meta_info"] = {f"{key}_v4" if key.startswith("spec") else key: value for key, value in body["meta_info"].items()}  # type: ignore[attr-defined]
    reading = sglang.meta_info(body, server=CHAIN)
    c = reading.counts
    assert (c.emitted, c.rounds, c.drafted, c.verified, c.histogram, reading.drafted_source) == (200, *[None] * 4, "absent")
    looked_for = {name for each in reading.absent for name in each.looked_for}
    assert {f"meta_info.{name}" for kept, drafted, _ in NAMES.values() for name in (kept, drafted)} <= looked_for


def test_figures_of_the_server_are_not_read() -> None:
    """Catches the mean of a server's whole life, warm-up and other users included, printed as a run's: without counts there is none."""
    info: dict[str, object] = {
        "version": "0.5.23", "speculative_num_draft_tokens": 6, "speculative_eagle_topk": 1,
        "avg_spec_accept_length": 3.2, "internal_states": [{"avg_spec_accept_length": 3.2}],
    }  # fmt: skip
    assert sglang.server_info(info) == CHAIN
    body: dict[str, object] = {
        "meta_info": {"completion_tokens": 64, "avg_spec_accept_length": 3.2, "spec_accept_length": 3.2, "spec_accept_rate": 0.55}
    }
    c = sglang.meta_info(body, server=CHAIN).counts
    assert (c.rounds, c.drafted, c.verified, c.histogram) == (None, None, None, None)


def test_a_bonus_token_among_the_kept() -> None:
    """Catches an acceptance rate above 1: the identity that it breaks is named."""
    c = sglang.meta_info(answer("0.5.11", kept=1128, rounds=1200), server=CHAIN).counts
    assert c.broken()[0] == "V ≤ D is broken: 1128 kept of 940 drafted; the bonus token was probably counted"


def test_generations_are_not_added_up() -> None:
    """Catches a sum over servers of several versions."""
    readings = [sglang.meta_info(answer(generation), server=CHAIN) for generation in ("0.5.11", "≥ 0.5.12")]
    with pytest.raises(ValueError, match="several engines"):
        summed(readings)
    assert summed(readings[:1] * 3).counts.drafted == 2820


@pytest.mark.parametrize(("value", "made_up"), [("2.8", True), ("-1", False), ("0", False), ("", False), ("match", True), ("nan", True)])
def test_acceptance_that_is_made_up(value: str, made_up: bool) -> None:
    """Catches a figure of the engine's test mode that passes for measured; -1 is its default."""
    assert sglang.forced({"SGLANG_SIMULATE_ACC_LEN": value}) == ("SGLANG_SIMULATE_ACC_LEN" if made_up else None)
    assert sglang.forced({}) is None


@pytest.mark.parametrize("info", [{"speculative_num_draft_tokens": True}, {"speculative_num_draft_tokens": 10**9}, {"version": ["0"]}])
def test_a_server_that_makes_no_sense(info: dict[str, object]) -> None:
    """Catches a nominal D made of nonsense."""
    with pytest.raises(NotUnderstood):
        sglang.server_info(info)
