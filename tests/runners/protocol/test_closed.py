"""Trials under load: the contract of facts that the figures rest on."""

from collections import Counter
from typing import Any

import pytest
import torch

from app.domain.facts import ProgressFact, RequestFact, TrialFact
from runners.clock import Clock
from runners.engine.stops import StopRules
from runners.parts import choose
from runners.protocol.bench import Bench
from runners.protocol.closed import ClosedTrials, halves
from runners.protocol.preflight import check_load
from runners.protocol.trials import Trials
from runners.protocol.unmeasurable import Unmeasurable
from runners.workloads.suite import load, select
from tests.models import prompts, spec, tiny

CONCURRENCY = 3


class Words:
    """A tokenizer of the tiny model: an id is a word."""

    def decode(self, ids: list[int], **_: Any) -> str:
        return " ".join(f"w{i}" for i in ids)

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        return {"input_ids": list(range(len(text.split())))}


class Ready:
    """What the trials read of a pre-flight."""

    def __init__(self, trials: int) -> None:
        self.spec = spec("ngram").model_copy(update={"trials": trials, "load": spec().load.model_copy(update={"concurrency": CONCURRENCY})})
        self.prompts = select(load("parallel-v1"), "en", None, 9)
        self.requests = [r.__class__(p.id, r.ids) for r, p in zip(prompts(9), self.prompts, strict=True)]
        self.tokenizer = Words()


@pytest.fixture(scope="module")
def facts() -> list[Any]:
    ready: Any = Ready(trials=2)
    target: Any = tiny("llama", slots=CONCURRENCY)
    bench = Bench(target, {0: choose(ready.spec)}, StopRules(16), Clock(torch.device("cpu")))
    seen: list[Any] = []
    trials: Trials = ClosedTrials({0: ready}, bench, [0], lambda _, fact: seen.append(fact))
    told = [*trials.headline(), *trials.losslessness()]
    assert {run for run, _ in told} == {0}
    return [*(fact for _, fact in told), *seen]


def test_a_block_has_each_arm_twice_as_neighbours(facts: list[Any]) -> None:
    """Catches pairs whose two trials are not neighbours, or numbers that two pairs share."""
    trials = [f for f in facts if isinstance(f, TrialFact) and f.purpose == "headline"]
    blocks = {t.block for t in trials}
    for block in blocks:
        own = [t for t in trials if t.block == block]
        assert [t.trial for t in own] == [2 * block, 2 * block, 2 * block + 1, 2 * block + 1]
        assert Counter(t.arm for t in own) == {"plain": 2, "speculative": 2}
        assert [t.arm for t in own] in (["plain", "speculative", "speculative", "plain"], ["speculative", "plain", "plain", "speculative"])


def test_requests_of_a_trial_share_their_order_and_the_slots_fill(facts: list[Any]) -> None:
    """Catches a load that is called 3 and runs 1, and requests dropped on the way."""
    requests = [f for f in facts if isinstance(f, RequestFact) and f.purpose == "headline"]
    for key in {(f.trial, f.arm) for f in requests}:
        own = [f for f in requests if (f.trial, f.arm) == key]
        assert len(own) == 9
        assert len({f.order for f in own}) == 1
        admitted = sorted(f.sent_at for f in own)
        first_done = min(f.last_at for f in own)
        assert sum(at < first_done for at in admitted) == CONCURRENCY
        assert max(f.last_at for f in own) > admitted[-1] > admitted[CONCURRENCY] > first_done - 1e-9
    assert max(max(f.round_slots, default=0) for f in requests) == CONCURRENCY


def test_counts_do_not_depend_on_the_arm_order(facts: list[Any]) -> None:
    """Catches a drafter that drafts from an earlier trial's answers."""
    requests = [f for f in facts if isinstance(f, RequestFact) and f.arm == "speculative" and f.purpose == "headline"]
    by_prompt: dict[str, set[Any]] = {}
    for fact in requests:
        by_prompt.setdefault(fact.prompt, set()).add((fact.output_digest, fact.drafted, fact.verified, fact.rounds))
    assert {len(seen) for seen in by_prompt.values()} == {1}


def test_forwards_belong_to_the_trial(facts: list[Any]) -> None:
    """Catches batched forwards counted once a request: slots in use over forwards is the mean batch."""
    for trial in (f for f in facts if isinstance(f, TrialFact)):
        assert 1 < trial.slot_steps / trial.forwards <= CONCURRENCY


def test_progress_ends_where_it_says(facts: list[Any]) -> None:
    told = [f for f in facts if isinstance(f, ProgressFact) and f.stage == "trial"]
    assert told[-1].done == told[-1].total


def test_orders_take_turns() -> None:
    """Catches drift that always favours one arm."""
    assert halves(2, 1, 0) != halves(2, 1, 1)
    first = {tuple(map(tuple, halves(2, seed, 0))) for seed in range(8)}
    assert first == {tuple(map(tuple, halves(2, 1, block))) for block in range(2)} == {((0, 1), (1, 0)), ((1, 0), (0, 1))}


def test_too_few_prompts_for_a_steady_window_are_refused() -> None:
    with pytest.raises(Unmeasurable, match="at least 9 prompts"):
        check_load(Ready(1).spec, select(load("parallel-v1"), "en", None, 8))
