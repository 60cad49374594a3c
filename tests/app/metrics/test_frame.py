"""Frames are made column by column; here they are made event by event, of facts that are easily read wrongly."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from app.domain.facts import RequestFact
from app.metrics.frame import Frames, from_facts
from app.metrics.select import counted, void_blocks
from tests.factories import request_fact, requests, trial_fact
from tests.factories_load import load_facts

ONE = request_fact()
UNPLACED = {"round_step": None}
AWKWARD: dict[str, list[RequestFact]] = {
    "nothing": [],
    "both arms": requests(prompts=9, passes=2),
    "nothing but prefills": requests(prompts=3, tokens=1),
    "no prefill token": requests(prompts=4, prefill=0),
    "under load": load_facts()[0],
    "places not told": [ONE.model_copy(update=UNPLACED), request_fact(input_tokens=40)],
    "steps without tokens": [
        ONE.model_copy(update=UNPLACED | {"step_tokens": (0, 3, 0, 0, 2), "step_end": (0.1, 0.2, 0.3, 0.4, 0.5)}),
        ONE.model_copy(update=UNPLACED | {"step_tokens": (), "step_end": ()}),
        ONE,
    ],
    "drafts not counted": [ONE.model_copy(update={"drafted_source": "absent"}), ONE],
    "planned arrivals": [request_fact(planned_at=0.5, sent_at=0.7), ONE],
}


def rounds_of(fact: RequestFact) -> Iterator[tuple[float, ...]]:
    for i in range(fact.rounds):
        place = None if fact.round_step is None else sum(fact.step_tokens[: fact.round_step[i]])
        context = None if place is None or fact.input_tokens is None else place + fact.input_tokens
        yield (
            fact.round_drafted[i], fact.round_depth[i], fact.round_verified[i], fact.round_slots[i],
            -1 if place is None else place + 1, -1 if context is None else context, 1,
        )  # fmt: skip


def gaps_of(fact: RequestFact) -> Iterator[tuple[float, int]]:
    brought = [(at, tokens) for at, tokens in zip(fact.step_end, fact.step_tokens, strict=True) if tokens]
    for (before, _), (at, tokens) in pairwise(brought):
        yield at - before, tokens


def since_first(fact: RequestFact) -> list[float]:
    brought = [at for at, tokens in zip(fact.step_end, fact.step_tokens, strict=True) if tokens]
    return [at - brought[0] for at in brought[1:]]


@pytest.mark.parametrize("name", AWKWARD)
def test_events_are_those_of_their_requests(name: str) -> None:
    """Catches an event that goes to the request before or behind its own, a gap across two requests, and an unknown place that becomes 0."""
    facts = AWKWARD[name]
    frames = from_facts(facts)
    numbers = ["drafted", "depth", "verified", "slots", "position", "context", "rounds"]
    assert list(frames.rounds[numbers].fillna(-1).itertuples(index=False, name=None)) == [row for fact in facts for row in rounds_of(fact)]
    assert list(frames.deliveries[["gap", "tokens"]].itertuples(index=False, name=None)) == [row for fact in facts for row in gaps_of(fact)]
    for table, events in ((frames.rounds, rounds_of), (frames.deliveries, gaps_of)):
        assert table["request"].to_list() == [row for row, fact in enumerate(facts) for _ in events(fact)]
    assert frames.deliveries["at"].to_list() == [at for fact in facts for at in since_first(fact)]


@pytest.mark.parametrize("name", AWKWARD)
def test_a_row_is_its_request(name: str) -> None:
    """Catches columns that change places, and a count that was not given and becomes a number."""
    facts = AWKWARD[name]
    for fact, row in zip(facts, from_facts(facts).requests.to_dict("records"), strict=True):
        started = fact.sent_at if fact.planned_at is None else fact.planned_at
        assert (row["prompt"], row["arm"], row["seed"], row["finish"]) == (fact.prompt, fact.arm, fact.seed, fact.finish)
        assert (row["seconds"], row["ttft"], row["decode_seconds"]) == (fact.last_at - started, fact.first_at - started, fact.last_at - fact.first_at)
        assert (row["verified"], row["emitted"], row["text_tokens"]) == (fact.verified, fact.emitted, fact.emitted - (fact.finish == "eos"))
        assert (row["drafted"] == fact.drafted) is (fact.drafted_source != "absent")
        assert (row["queueing"] == fact.sent_at - started) is (fact.planned_at is not None)


def test_a_selection_is_made_once_of_each_frames() -> None:
    """Catches a selection that outlives the frames that it was made of, and one that another argument gets."""
    facts = requests(prompts=4, passes=2)
    frames = from_facts(facts, [trial_fact(contended=True)])
    assert counted(frames) is counted(
        frames,
    )
    assert set(counted(frames, "plain")["arm"]) == {"plain"}
    assert void_blocks(frames) == {0}
    calm: Frames = replace(frames, trials=from_facts(facts, [trial_fact()]).trials)
    assert void_blocks(calm) == set()
