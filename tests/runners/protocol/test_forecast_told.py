"""What progress tells of the interval while a run goes."""

import pytest

from app.domain.facts import ProgressFact, RequestFact, TrialFact
from app.domain.spec import Load
from app.metrics.catalogue import readings
from app.metrics.frame import from_facts
from tests.runners.protocol.test_forecast import width
from tests.simulated import Simulation, World, chance


@pytest.mark.parametrize("concurrency", [1, 2])
def test_progress_tells_the_width_from_the_third_block_on(concurrency: int) -> None:
    """Catches a width of a first block, and one that is not of the report's interval: within a factor of 2 through the whole pipeline."""
    world = World(step_noise=0.2, trial_noise=0.05, acceptance=lambda key: 0.3 + 0.6 * chance(key, -1))
    simulation = Simulation(world, prompts=8, tokens=16, blocks=4, concurrency=concurrency)
    seen: list[ProgressFact] = []
    headline = "speedup_end_to_end" if concurrency == 1 else "speedup_throughput"
    facts = simulation.facts(lambda _run, fact: seen.append(fact) if isinstance(fact, ProgressFact) else None)
    requests, trials = [f for f in facts if isinstance(f, RequestFact)], [f for f in facts if isinstance(f, TrialFact)]
    frames = from_facts(requests, trials, load=Load(concurrency=concurrency))
    found = width(next(reading.pooled for metric, reading in readings(frames) if metric.id == headline and not reading.part))
    half = [fact for fact in seen if fact.done <= seen[-1].total / 2]
    assert {fact.half_width for fact in half} == {None}
    told = {fact.half_width for fact in seen[len(half) :]}
    assert len(told) == 2
    for each in told:
        assert each is not None
        assert found / 2 < each < found * 2
