"""Facts of an open load, as tests/factories_load makes them of a closed one.

Requests arrive when planned, take the first slot that is free in the order of their arrival, and are served without regard for each other: a queue
whose waiting times follow from arrivals and service alone. Both arms of a pair share their arrivals; every pair has its own.
"""

import heapq
from typing import Any

from app.domain.facts import RequestFact, TrialFact
from app.domain.spec import RunSpec
from app.reports.record import RunRecord
from runners.loads.open import arrivals
from tests import factories
from tests.factories import request_fact, trial_fact
from tests.factories_load import ABBA, BAAB


def served(
    arm: str, trial: int, order: int, planned: list[float], *, concurrency: int = 1, factor: float = 1.0, language: str = "ru", **over: Any
) -> list[RequestFact]:
    """One trial: a request at each planned time; `factor` stretches the time in a slot."""
    free = [0.0] * concurrency
    found = []
    for number, at in enumerate(planned, start=1):
        fact = request_fact(arm=arm, prompt=f"{language}-{number:02}", trial=trial, language=language, order=order, **over)
        start = round(max(at, heapq.heappop(free)), 6)
        ends = tuple(round(start + (end - fact.sent_at) * factor, 6) for end in fact.step_end)
        heapq.heappush(free, ends[-1])
        times = {"planned_at": round(at, 6), "sent_at": start, "step_end": ends, "first_at": ends[0], "last_at": ends[-1]}
        found.append(fact.model_copy(update=times))
    return found


def open_facts(
    *,
    rate: float = 0.7,
    burstiness: float = 1.0,
    concurrency: int = 1,
    blocks: int = 3,
    prompts: int = 24,
    language: str = "ru",
    noise: float = 0.01,
    slow: float = 1.0,
    **over: Any,
) -> tuple[list[RequestFact], list[TrialFact]]:
    """All trials of a run in the order in which they would be measured. A slot serves about 1.4 plain requests a second and 2.2 speculative ones;
    `slow` stretches the speculative arm alone."""
    requests: list[RequestFact] = []
    trials: list[TrialFact] = []
    for block in range(blocks):
        for place, arm in enumerate(ABBA if block % 2 == 0 else BAAB):
            trial = 2 * block + place // 2
            factor = factories._random("trial", arm, trial).lognormvariate(0, noise) * (slow if arm == "speculative" else 1.0)
            planned = arrivals(prompts, rate, burstiness, f"{trial}")
            own = served(arm, trial, place % 2, planned, concurrency=concurrency, factor=factor, language=language, **over)
            requests += own
            trials.append(trial_fact(arm=arm, trial=trial, block=block, seconds=max(fact.last_at for fact in own)))
    return requests, trials


def open_record(
    *, run: int = 1, rate: float = 0.7, burstiness: float = 1.0, concurrency: int = 1, spec: RunSpec | None = None, **over: Any
) -> RunRecord:
    """A finished run at an open load; `over` goes to `open_facts`."""
    language = over.setdefault("language", spec.language if spec else "ru")
    load = {"kind": "open", "rate": rate, "burstiness": burstiness, "concurrency": concurrency}
    requests, trials = open_facts(rate=rate, burstiness=burstiness, concurrency=concurrency, **over)
    asked = spec or factories.run_spec(language=language, load=load, trials=3)
    return factories.record(run=run, spec=asked, prompts=1, passes=1, language=language).model_copy(
        update={"requests": tuple(requests), "trials": tuple(trials)}
    )
