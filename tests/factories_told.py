"""Facts of a served engine: counts that it did not tell, its own totals of a trial, and runs on it."""

from collections.abc import Iterable, Sequence
from typing import Any

from app.domain.counts import Counts
from app.domain.facts import RequestFact, TrialFact, digest_of
from app.domain.outside.reading import Reading
from app.domain.status import RunState
from app.reports.record import RunRecord
from tests import factories, factories_served

LISTS = ("round_drafted", "round_verified", "round_depth", "round_slots")
SUMMED = ("emitted", "rounds", "drafted", "verified", "accepted", "undrafted", "prefill_tokens", "discarded_bonus")
OTHER, PLACE = 7, 5


def untold(fact: RequestFact, *names: str) -> RequestFact:
    """The same fact without these counts; `lists` are its rounds one by one, `slots` what ran beside them. Checked anew."""
    change: dict[str, Any] = {name: None for name in names if name not in ("lists", "slots")}
    if "drafted" in change:
        change["drafted_source"] = "absent"
    if "rounds" in change or "lists" in names:
        change |= dict.fromkeys(LISTS, ()) | {"round_step": None}
    if "slots" in names:
        change["round_slots"] = ()
    return RequestFact.model_validate(fact.model_dump() | change)


def reading(requests: Iterable[RequestFact], /, **over: Any) -> Reading:
    """What an engine counts over these requests, every draft and every position of it; `over` goes to the counts, `forced` and the like aside."""
    own = list(requests)
    beside = {name: over.pop(name) for name in list(over) if name in Reading.model_fields}
    kept = [each for fact in own for each in fact.round_verified]
    longest = max((fact.longest_draft or 0 for fact in own), default=0)
    counts: dict[str, Any] = {name: sum(getattr(fact, name) for fact in own) for name in SUMMED}
    counts |= {"requests": len(own), "longest_draft": longest, "kept_at": tuple(sum(each > place for each in kept) for place in range(longest))}
    return Reading(engine="llama.cpp", shape="metrics", counts=Counts(**counts | over), **beside)


def told_trials(requests: Sequence[RequestFact], **over: Any) -> list[TrialFact]:
    """The trials of these requests, each with the engine's totals of them and nobody else's request."""
    found = []
    for trial in factories.trials(list(requests)):
        own = [fact for fact in requests if (fact.arm, fact.purpose, fact.trial) == (trial.arm, trial.purpose, trial.trial)]
        change = {"counted": reading(own, **over), "foreign": 0, "forwards": None, "slot_steps": None}
        found.append(TrialFact.model_validate(trial.model_dump() | change))
    return found


def parted(fact: RequestFact, token: int = OTHER) -> RequestFact:
    """The same answer with another token at one place."""
    assert fact.output_ids is not None
    ids = (*fact.output_ids[:PLACE], token, *fact.output_ids[PLACE + 1 :])
    return fact.model_copy(update={"output_ids": ids, "output_digest": digest_of(ids)})


def record(*, spec: dict[str, Any] | None = None, **over: Any) -> RunRecord:
    """A finished run on a served engine: no control and no trial in float32. `over` goes to `factories.requests`."""
    measured = factories.requests(**{"prompts": 12, "passes": 4, "acceptance": 0.9} | over)
    return RunRecord(
        run=1,
        state=RunState.SUCCEEDED,
        spec=factories_served.run_spec(**spec or {}),
        preflight=factories.preflight_fact(),
        environment=factories.environment_fact(),
        warmup=factories.warmup_fact(),
        requests=tuple(measured),
        trials=tuple(told_trials(measured)),
        finish=factories.finish_fact(),
    )
