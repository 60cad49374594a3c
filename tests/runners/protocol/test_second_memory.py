"""Memory of an arm that decodes with two models."""

from runners.clock import Clock
from runners.engine.companion import Companion
from runners.engine.stops import StopRules
from runners.engine.transformers_target import TransformersTarget
from runners.environment import Quiet
from runners.parts import Chosen, choose
from runners.protocol.bench import Bench
from runners.protocol.trials import trial_fact
from tests.models import companion_of, nearly, spec, tiny

QUIET = Quiet(load_average=None, steal=0.0, others=0.0, clock_mhz=None)


def with_model(companion: Companion) -> Chosen:
    from dataclasses import replace

    return replace(choose(spec("draft-model")), companion=companion)


def own(key: str, context: int, twin: bool = False) -> Companion:
    return Companion(TransformersTarget(nearly("llama"), slots=2, context=context, eos=frozenset()), twin=twin, key=key)


def test_weights_and_cache_of_both_models_are_the_arms() -> None:
    """Catches a memory overhead of nothing beside a second model, and a plain arm that pays for it."""
    target = tiny("llama", slots=2)
    companion = companion_of(target)
    bench = Bench(target, {0: with_model(companion), 1: choose(spec("ngram"))}, StopRules(8), Clock(target.device))
    told = {
        seat: trial_fact(bench.told_of("speculative", seat, bench.loop(seat).counters), "speculative", 1.0, "profile", 0, 0, QUIET)
        for seat in (None, 0, 1)
    }
    assert companion.weight_bytes > 0
    assert companion.cache_bytes > 0
    assert told[None].weight_bytes == told[1].weight_bytes == target.weight_bytes
    assert told[None].cache_bytes == told[1].cache_bytes == target.cache_bytes
    assert told[0].weight_bytes == (target.weight_bytes or 0) + companion.weight_bytes
    assert told[0].cache_bytes == (target.cache_bytes or 0) + companion.cache_bytes


def test_an_arm_does_not_need_what_lies_there_for_others() -> None:
    """Catches a peak of the plain arm that holds another arm's model, which would hide it, and weights that two arms share taken off twice."""
    target = tiny("llama", slots=2)
    first, second, other, twin = own("a", 64), own("a", 128), own("b", 32), own("t", 96, twin=True)
    arms = dict(enumerate([with_model(first), with_model(second), with_model(other), with_model(twin), choose(spec("ngram"))]))
    bench = Bench(target, arms, StopRules(8), Clock(target.device))
    caches = {run: each.cache_bytes for run, each in enumerate((first, second, other, twin))}
    assert twin.weight_bytes == 0
    assert len(set(caches.values())) == 4
    for seat in (None, 4):
        assert bench.idle_bytes(seat) == first.weight_bytes + other.weight_bytes + sum(caches.values())
    assert bench.idle_bytes(0) == other.weight_bytes + caches[1] + caches[2] + caches[3]
    assert bench.idle_bytes(2) == first.weight_bytes + caches[0] + caches[1] + caches[3]
    assert bench.idle_bytes(3) == first.weight_bytes + other.weight_bytes + caches[0] + caches[1] + caches[2]
