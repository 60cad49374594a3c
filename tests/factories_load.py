"""Facts of a closed load above 1, as tests/factories makes them of load 1.

Blocks of four trials, ABBA and BAAB in turn; neighbours are a pair and share their number. In a trial every slot takes the next prompt as soon as
it is free, and times count from the trial's own start. Each trial has noise of its own, shared by all that ran in it.
"""

import heapq
from typing import Any

from app.domain.facts import RequestFact, TrialFact
from app.domain.spec import RunSpec
from app.reports.record import RunRecord
from tests import factories
from tests.factories import request_fact, trial_fact

ABBA = ("plain", "speculative", "speculative", "plain")
BAAB = ("speculative", "plain", "plain", "speculative")


def trial_requests(
    arm: str, trial: int, order: int, *, prompts: int, concurrency: int, factor: float, language: str, **over: Any
) -> list[RequestFact]:
    """One trial over all prompts with `concurrency` slots; `factor` stretches its times."""
    free = [0.0] * concurrency
    found = []
    for number in range(1, prompts + 1):
        fact = request_fact(arm=arm, prompt=f"{language}-{number:02}", trial=trial, language=language, order=order, **over)
        start = round(heapq.heappop(free), 6)
        ends = tuple(round(start + (end - fact.sent_at) * factor, 6) for end in fact.step_end)
        heapq.heappush(free, ends[-1])
        slots = (concurrency,) * fact.rounds
        found.append(fact.model_copy(update={"sent_at": start, "step_end": ends, "first_at": ends[0], "last_at": ends[-1], "round_slots": slots}))
    return found


def load_facts(
    *, concurrency: int = 4, blocks: int = 3, prompts: int = 16, language: str = "ru", noise: float = 0.01, slow: float = 1.0, **over: Any
) -> tuple[list[RequestFact], list[TrialFact]]:
    """All trials of a run in the order in which they would be measured; `slow` stretches the speculative arm alone."""
    requests: list[RequestFact] = []
    trials: list[TrialFact] = []
    for block in range(blocks):
        for place, arm in enumerate(ABBA if block % 2 == 0 else BAAB):
            trial = 2 * block + place // 2
            factor = factories._random("trial", arm, trial).lognormvariate(0, noise) * (slow if arm == "speculative" else 1.0)
            own = trial_requests(arm, trial, place % 2, prompts=prompts, concurrency=concurrency, factor=factor, language=language, **over)
            steps = sum(fact.rounds + fact.undrafted for fact in own)
            requests += own
            seconds = max(fact.last_at for fact in own)
            trials.append(trial_fact(arm=arm, trial=trial, block=block, seconds=seconds, forwards=steps // concurrency, slot_steps=steps))
    return requests, trials


def load_record(*, run: int = 1, concurrency: int = 4, spec: RunSpec | None = None, **over: Any) -> RunRecord:
    """A finished run at a closed load; `over` goes to `load_facts`."""
    language = over.setdefault("language", spec.language if spec else "ru")
    requests, trials = load_facts(concurrency=concurrency, **over)
    asked = spec or factories.run_spec(language=language, load={"concurrency": concurrency}, trials=3)
    return factories.record(run=run, spec=asked, prompts=1, passes=1, language=language).model_copy(
        update={"requests": tuple(requests), "trials": tuple(trials)}
    )
