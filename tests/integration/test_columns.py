"""A report is made of columns; here it is made of the same facts one by one, each checked anew, and must be the same to the last digit."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from app.domain.facts import AnyFact, RequestFact, digest_of
from app.domain.status import RunState
from app.metrics.columns import LISTS, NUMBERS, TEXTS, WHOLES, Requests
from app.reports.build import measured
from app.runs import request_rows
from runners.parts import offered
from tests import factories, factories_served
from tests.app.metrics.test_trees import tree
from tests.factories_load import load_facts
from tests.factories_open import open_facts
from tests.factories_told import told_trials, untold
from tests.integration.conftest import Service
from tests.integration.everything import DRAWN, costs, loaded, parted

Make = Callable[[], Sequence[AnyFact]]


def varied(**over: Any) -> list[AnyFact]:
    """Errors, a loop, counts and judgements that are not given, answers of another language, undrafted steps, a control arm and what is private."""
    facts: list[AnyFact] = []
    for number, fact in enumerate(factories.facts(prompts=9, passes=4, **over)):
        if isinstance(fact, RequestFact) and fact.purpose == "headline":
            facts.append(fact.model_copy(update=ODD.get(number % 23, {})))
        else:
            facts.append(fact)
    return facts


ODD: dict[int, dict[str, Any]] = {
    3: {"finish": "error"},
    5: {"degenerate": True, "repeated_share": None},
    7: {"degenerate": None, "answer_language": None, "answer_letters": 3},
    9: {"output_ids": None, "output_text": None},
    11: {"answer_language": "und", "answer_kind": "code"},
    13: {"output_ids": None, "output_digest": "0" * 64},
    15: {"draft_layer_passes": None, "parallel": None, "input_tokens": 71},
    17: {"drafted_source": "absent", "round_step": None},
    19: {"drafted_source": "nominal", "finish": "stop"},
}


def branching() -> list[AnyFact]:
    requests = tree()
    return loaded(requests, factories.trials(requests))


def timed() -> list[AnyFact]:
    told = factories.facts(prompts=8, passes=4)
    disturbed = [fact.model_copy(update={"contended": fact.block == 1}) if fact.kind == "trial" else fact for fact in told]
    return [fact.model_copy(update={"timed_controller": True}) if fact.kind == "preflight" else fact for fact in disturbed]


def apart() -> list[AnyFact]:
    """Answers that part in the headline, of which the ids are there."""

    def other(fact: AnyFact) -> AnyFact:
        if not isinstance(fact, RequestFact) or fact.arm == "plain" or fact.prompt not in {"ru-02", "ru-05"} or fact.output_ids is None:
            return fact
        ids = (*fact.output_ids[:9], 7, *fact.output_ids[10:])
        return fact.model_copy(update={"output_ids": ids, "output_digest": digest_of(ids)})

    return [other(fact) for fact in factories.facts(prompts=8, passes=2)]


SERVED: dict[str, Any] = {"engine": "llama", "drafter": {"name": "ngram-simple"}}
# A request each, by turns.
SILENT = (
    ("rounds", "undrafted"), ("lists",), ("accepted", "discarded_bonus"), ("drafted", "longest_draft"), ("slots", "prefill_tokens"), ("verified",)
)  # fmt: skip


def served(*, everywhere: bool = False) -> list[AnyFact]:
    """Facts of a served engine: each request lacks other counts, or all of them lack the same; trials hold the engine's own."""
    whole = factories.requests(prompts=9, passes=4)
    found = [untold(fact, *SILENT[0 if everywhere else number % len(SILENT)]) for number, fact in enumerate(whole)]
    return loaded(found, told_trials(whole))


CASES: dict[str, tuple[Make, dict[str, Any]]] = {
    "one at a time": (lambda: [*factories.facts(), *costs()], {}),
    "awkward": (varied, {}),
    "no prefill token": (lambda: factories.facts(prefill=0), {}),
    "nothing but prefills": (lambda: factories.facts(tokens=1, finish="eos"), {}),
    "long answers": (lambda: factories.facts(prompts=6, passes=2, tokens=160), {"max_new_tokens": 160}),
    "parted": (lambda: parted(factories.facts()), {}),
    "parted in the headline": (apart, {}),
    "drawn": (lambda: factories.facts(passes=4), DRAWN),
    "trees": (branching, {"controller": {"name": "constant", "params": {"length": 8}}}),
    "timed": (timed, {}),
    "under load": (lambda: loaded(*load_facts(concurrency=4, blocks=3)), {"load": {"concurrency": 4}}),
    "open load": (lambda: loaded(*open_facts()), {"load": {"kind": "open", "rate": 0.7}}),
    "counts that were not told": (served, SERVED),
    "counts of trials alone": (lambda: served(everywhere=True), SERVED),
    "drawn from a served engine": (served, DRAWN | SERVED | {"sampling": {"temperature": 0.7}}),
    "nothing": (lambda: [], {}),
}


@pytest.mark.parametrize("name", CASES)
async def test_the_report_is_the_same_of_columns_and_of_facts(service: Service, name: str) -> None:
    """Catches a column that is read with another's values or order, an absent number or list that becomes 0 or empty, and ids that are missing where
    answers part."""
    make, spec = CASES[name]
    run = await _measured(service, make(), spec)
    columns, whole = [await service.app.state.runs.record(run, whole=each) for each in (False, True)]
    assert isinstance(columns.requests, Requests)
    assert len(columns.requests) == len(whole.requests)
    assert all(isinstance(fact, RequestFact) for fact in whole.requests)
    _same_columns(columns.requests, Requests.of(whole.requests))
    for read, fact in zip(columns.requests, whole.requests, strict=True):
        assert read.model_dump(exclude={"output_ids", "output_text"}) == fact.model_dump(exclude={"output_ids", "output_text"})
        assert read.output_ids in (None, fact.output_ids)
    # As if it had ended well, whatever a service would say to such an end: only then is everything shown.
    ours, theirs = (measured(each.model_copy(update={"state": RunState.SUCCEEDED})) for each in (columns, whole))
    assert ours.report.model_dump_json() == theirs.report.model_dump_json()
    assert ours.kept.model_dump_json() == theirs.kept.model_dump_json()


async def _measured(service: Service, facts: Sequence[AnyFact], spec: dict[str, Any]) -> int:
    await service.offer(**offered(), max_concurrency=8, engines=("transformers", "llama"), served=(factories_served.llama(),))
    run = await service.run(**{"suite": {"id": "everyday", "limit": 24}, "drafter": {"name": "ngram"}} | spec)
    attempt = await service.lease()
    answer = await attempt.send(0, facts or [factories.environment_fact()])
    assert answer.status_code == 200, answer.text
    return run


async def test_a_long_attempt_is_read_in_parts(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a part that is read twice or not at all, and a list that is taken for another part's."""
    run = await _measured(service, varied(), {})
    monkeypatch.setattr(request_rows, "AT_ONCE", 500)
    columns, whole = [await service.app.state.runs.record(run, whole=each) for each in (False, True)]
    steps = max(len(fact.step_end) for fact in whole.requests)
    assert len(whole.requests) > 3 * 500 / steps
    _same_columns(columns.requests, Requests.of(whole.requests))


def test_requests_that_went_are_no_others() -> None:
    """Catches a request whose values are gone and which is given its neighbour's."""
    parts = [np.array([5, 3]), np.array([9])]
    assert request_rows._places(parts, np.array([3, 5, 9])).tolist() == [1, 0, 2]
    assert request_rows._places(parts, np.array([9])).tolist() == [2]
    for ids in ([4], [3, 10], [1]):
        with pytest.raises(request_rows.Gone):
            request_rows._places(parts, np.array(ids))


def _same_columns(ours: Requests, theirs: Requests) -> None:
    for name in TEXTS:
        assert ours.text(name).tolist() == theirs.text(name).tolist(), name
    for name in (*WHOLES, *NUMBERS):
        read = Requests.whole if name in WHOLES else Requests.number
        assert read(ours, name).tobytes() == read(theirs, name).tobytes(), name
    for name in LISTS:
        assert ours.lists(name).same(theirs.lists(name)), name
