import pytest

from app.domain.status import FINAL, NEXT, AttemptState, RunState, may_become


def test_every_state_has_its_ways_out() -> None:
    """Catches a state added without transitions."""
    assert set(NEXT) == set(RunState)


@pytest.mark.parametrize("state", sorted(FINAL))
def test_a_final_state_is_left_never(state: RunState) -> None:
    """Catches a late fact or a second finish that revives a run."""
    assert not any(may_become(state, after) for after in RunState)


@pytest.mark.parametrize("state", sorted(set(RunState) - FINAL))
def test_an_open_state_can_be_cancelled_and_can_fail(state: RunState) -> None:
    """Catches a run that nobody can end."""
    assert may_become(state, RunState.CANCELLED)
    assert may_become(state, RunState.FAILED)
    assert not may_become(state, state)


@pytest.mark.parametrize("state", [RunState.LEASED, RunState.RUNNING])
def test_a_lost_attempt_sends_the_run_back(state: RunState) -> None:
    assert may_become(state, RunState.QUEUED)


def test_nothing_succeeds_or_runs_from_the_queue() -> None:
    """Catches skipping the lease, which is what fences facts."""
    assert not may_become(RunState.QUEUED, RunState.SUCCEEDED)
    assert not may_become(RunState.QUEUED, RunState.RUNNING)
    assert not may_become(RunState.RUNNING, RunState.LEASED)


def test_only_an_attempt_is_lost() -> None:
    assert "lost" in set(AttemptState)
    assert "lost" not in set(RunState)
