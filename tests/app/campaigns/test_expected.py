"""How long runs that nobody has begun will take."""

from typing import Any

import pytest

from app.campaigns.forecast import NEVER, NO_DRAFTER, NO_PROMPTS, NO_RUNNER, OTHER_LOAD, expected
from app.domain.spec import RunSpec
from app.runs.relatives import Took
from tests.factories import run_spec

LAYERS = {"name": "layerskip", "params": {}}
# Of a run of two blocks: four passes of 5 s (plain), 5 s (control) and 10 s, one of 6 and 8 s in float32, and 20 s beside them.
REST = 20
WHOLE = 4 * (5 + 5 + 10) + 6 + 8 + REST


def spec(**over: Any) -> RunSpec:
    return run_spec(**({"trials": 2, "max_new_tokens": 32} | over))


def took(run: int, own: float = 10, *, campaign: int | None = None, runner: str = "local", prompts: int = 8, besides: float = 0, **over: Any) -> Took:
    """`own` seconds take a speculative pass; `besides` those of other runs that were measured in the same time."""
    passes = {
        ("headline", "plain"): (20.0, 4), ("headline", "control"): (20.0, 4), ("headline", "speculative"): (4.0 * own, 4),
        ("losslessness", "plain"): (6.0, 1), ("losslessness", "speculative"): (8.0, 1), ("profile", "plain"): (3.0, 1),
    }  # fmt: skip
    seconds = 4 * (5 + 5 + own) + 6 + 8 + REST + besides
    return Took(run=run, campaign=campaign, runner=runner, spec=spec(**over), seconds=seconds, prompts=prompts, passes=passes)


def seconds(specs: list[RunSpec], past: list[Took], *, prompts: int = 8, runners: tuple[str, ...] = ("local",)) -> float | None:
    return expected(specs, [prompts] * len(specs), runners, past).seconds


def test_the_same_takes_as_long() -> None:
    """Catches a scale that is off for everything."""
    assert seconds([spec()], [took(1)]) == pytest.approx(WHOLE)
    assert seconds([spec()], [took(1), took(2, 14)]) == pytest.approx(WHOLE + 4 * 2)


@pytest.mark.parametrize(
    ("over", "prompts", "expects"),
    [
        ({"max_new_tokens": 64}, 8, 2 * (WHOLE - REST) + REST),
        ({}, 24, 3 * (WHOLE - REST) + REST),
        ({"trials": 6}, 8, 3 * 4 * 20 + 14 + REST),
        ({"language": "en"}, 8, WHOLE),
    ],
)
def test_time_follows_the_work(over: dict[str, Any], prompts: int, expects: float) -> None:
    """Catches a form that shows the same minutes whatever is typed, and loading or the float32 pass that is made once a block."""
    assert seconds([spec(**over)], [took(1)], prompts=prompts) == pytest.approx(expects)


def test_what_shares_a_plain_arm_is_timed_together() -> None:
    """Catches a bench of two drafters counted twice, in what is asked and in what was measured."""
    two = [spec(), spec(drafter=LAYERS)]
    both = 4 * (5 + 5 + 10 + 30) + 6 + 8 + 8 + REST
    measured = [took(1, besides=4 * 30 + 8, campaign=7), took(2, 30, besides=4 * 10 + 8, campaign=7, drafter=LAYERS)]
    assert seconds(two, measured) == pytest.approx(both)
    assert seconds([spec()], measured) == pytest.approx(WHOLE)
    assert seconds([*two, spec(language="en"), spec(language="en", drafter=LAYERS)], measured) == pytest.approx(2 * both)


def test_a_drafter_is_timed_by_itself() -> None:
    """Catches a slow drafter's time told of a quick one, and a drafter that nobody measured here."""
    past = [took(1), took(2, 40, drafter=LAYERS), took(3, 70, drafter={"name": "layerskip", "params": {"skip": 2}})]
    assert seconds([spec()], past) == pytest.approx(WHOLE)
    assert seconds([spec(drafter=LAYERS)], past) == pytest.approx(WHOLE + 4 * 30)
    assert seconds([spec(drafter={"name": "layerskip", "params": {"skip": 5}})], past) == pytest.approx(WHOLE + 4 * 45)
    found = expected([spec(), spec(drafter="heads")], [8, 8], ["local"], past)
    assert (found.seconds, found.unknown, found.drafter) == (None, NO_DRAFTER, "heads")


def test_another_pace_is_no_measure() -> None:
    """Catches a time of one request at once told of four, of one model told of another, of one runner told of another: each would be a guess."""
    ask = [spec(load={"concurrency": 4})]
    assert expected(ask, [8], ["local"], [took(1)]).unknown == OTHER_LOAD
    assert expected([spec(), *ask], [8, 8], ["local"], [took(1)]).seconds is None
    assert expected(ask, [8], ["local"], [took(1, model={"source": "package", "package": "other"})]).unknown == NEVER
    assert expected([spec()], [8], ["local"], [took(1, runner="gpu")]).unknown == NEVER
    assert expected([spec()], [8], ["local"], []).unknown == NEVER


def test_arrivals_set_the_time_of_an_open_load() -> None:
    """Catches answers twice as long that double a trial whose length is that of its arrivals."""
    load = {"kind": "open", "rate": 2.0}
    past = [took(1, load=load)]
    assert seconds([spec(load=load, max_new_tokens=64)], past) == pytest.approx(WHOLE)
    assert seconds([spec(load=load)], past, prompts=16) == pytest.approx(2 * (WHOLE - REST) + REST)


def test_the_first_runner_that_knows_is_named() -> None:
    """Catches a time of one machine under the name of another."""
    found = expected([spec()], [8], ["new", "gpu", "local"], [took(1), took(2, 2, runner="gpu"), took(3, 4, runner="gpu")])
    assert (found.runner, found.seconds, found.runs) == ("gpu", pytest.approx(WHOLE - 4 * 7), 2)


def test_what_is_missing_is_said() -> None:
    assert expected([spec()], [8], [], [took(1)]).unknown == NO_RUNNER
    assert expected([spec()], [None], ["local"], [took(1)]).unknown == NO_PROMPTS
