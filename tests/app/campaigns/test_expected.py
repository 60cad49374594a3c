"""How long runs that nobody has begun will take."""

from typing import Any

import pytest

from app.campaigns.forecast import NEVER, NO_PROMPTS, NO_RUNNER, OTHER_LOAD, expected
from app.domain.spec import RunSpec
from app.runs.relatives import Took
from tests.factories import run_spec

LAYERS = {"name": "layerskip", "params": {}}


def spec(**over: Any) -> RunSpec:
    return run_spec(**({"trials": 2, "max_new_tokens": 32} | over))


def took(run: int, seconds: float = 100, *, campaign: int | None = None, runner: str = "local", prompts: int = 8, **over: Any) -> Took:
    return Took(run=run, campaign=campaign, runner=runner, spec=spec(**over), seconds=seconds, prompts=prompts)


def seconds(specs: list[RunSpec], past: list[Took], *, prompts: int = 8, runners: tuple[str, ...] = ("local",)) -> float | None:
    return expected(specs, [prompts] * len(specs), runners, past).seconds


def test_the_same_takes_as_long() -> None:
    """Catches a scale that is off for everything."""
    assert seconds([spec()], [took(1)]) == pytest.approx(100)
    assert seconds([spec()], [took(1, 100), took(2, 140)]) == pytest.approx(120)


@pytest.mark.parametrize(
    ("over", "prompts", "times"), [({"max_new_tokens": 64}, 8, 2), ({"trials": 6}, 8, 3), ({}, 24, 3), ({"language": "en"}, 8, 1)]
)
def test_time_follows_the_work(over: dict[str, Any], prompts: int, times: float) -> None:
    """Catches a form that shows the same minutes whatever is typed."""
    assert seconds([spec(**over)], [took(1)], prompts=prompts) == pytest.approx(100 * times)


def test_what_shares_a_plain_arm_is_timed_together() -> None:
    """Catches a bench of two drafters counted twice, in what is asked and in what was measured."""
    two = [spec(), spec(drafter=LAYERS)]
    measured = [took(1, 150, campaign=7), took(2, 150, campaign=7, drafter=LAYERS)]
    assert seconds(two, measured) == pytest.approx(150)
    # One drafter and plain are two of three arms.
    assert seconds([spec()], measured) == pytest.approx(100)
    assert seconds([*two, spec(language="en"), spec(language="en", drafter=LAYERS)], measured) == pytest.approx(300)


def test_the_same_drafter_is_a_better_measure() -> None:
    """Catches a slow drafter's time told of a quick one that was measured itself."""
    assert seconds([spec()], [took(1, 100), took(2, 400, drafter=LAYERS)]) == pytest.approx(100)


def test_another_pace_is_no_measure() -> None:
    """Catches a time of one request at once told of four, of one model told of another, of one runner told of another: each would be a guess."""
    loaded = {"load": {"concurrency": 4}}
    ask = [spec(**loaded)]
    assert expected(ask, [8], ["local"], [took(1)]).unknown == OTHER_LOAD
    assert expected([spec(), *ask], [8, 8], ["local"], [took(1)]).seconds is None
    assert expected(ask, [8], ["local"], [took(1, model={"source": "package", "package": "other"})]).unknown == NEVER
    assert expected([spec()], [8], ["local"], [took(1, runner="gpu")]).unknown == NEVER
    assert expected([spec()], [8], ["local"], []).unknown == NEVER


def test_the_first_runner_that_knows_is_named() -> None:
    """Catches a time of one machine under the name of another."""
    found = expected([spec()], [8], ["new", "gpu", "local"], [took(1), took(2, 20, runner="gpu"), took(3, 22, runner="gpu")])
    assert (found.runner, found.seconds, found.runs) == ("gpu", pytest.approx(21), 2)


def test_what_is_missing_is_said() -> None:
    assert expected([spec()], [8], [], [took(1)]).unknown == NO_RUNNER
    assert expected([spec()], [None], ["local"], [took(1)]).unknown == NO_PROMPTS
