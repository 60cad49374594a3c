"""The process that is kept between the jobs of a campaign: handed out while it lives, replaced when dead. Real processes, which measure nothing."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.domain.lease import Lease
from runners.keeper import Keeper
from tests import factories


def lease(**over: Any) -> Lease:
    values: dict[str, Any] = {
        "run": 1, "attempt": 1, "attempt_id": 1, "token": "bza_x", "spec": factories.run_spec(), "campaign": 7, "lease_seconds": 9, "beat_seconds": 1,
    }  # fmt: skip
    return Lease(**values | over)


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    made = Keeper(tmp_path)
    yield made
    made.dismiss(grace=0)


def test_a_child_killed_between_two_jobs_is_replaced(keeper: Keeper, tmp_path: Path) -> None:
    """Catches a job that is handed to the dead, and a folder that nobody removes any more."""
    first = keeper.child(lease(), online=False)
    assert keeper.child(lease(spec=factories.run_spec(language="en")), online=False) is first
    os.kill(first.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while first.exit is None and time.monotonic() < deadline:
        time.sleep(0.02)
    second = keeper.child(lease(spec=factories.run_spec(language="en")), online=False)
    assert second.exit is None
    assert second.pid != first.pid
    assert list(tmp_path.iterdir()) == [second.folder]


def test_a_job_handed_to_a_child_that_has_just_died_ends_with_its_exit(keeper: Keeper) -> None:
    """Catches an agent that falls over the broken pipe, or waits for a word that will not come."""
    child = keeper.child(lease(), online=False)
    os.kill(child.pid, signal.SIGKILL)
    child._process.wait()
    child.measure(child.folder)
    assert child.exit == -signal.SIGKILL


@pytest.mark.parametrize(
    "other", [{"campaign": 8}, {"campaign": None}, {"spec": factories.run_spec(model={"source": "package", "package": "other"})}]
)
def test_another_target_or_campaign_gets_a_process_of_its_own(keeper: Keeper, other: dict[str, Any]) -> None:
    """Catches a measurement in a process in which something else has run."""
    first = keeper.child(lease(), online=False)
    second = keeper.child(lease(**other), online=False)
    assert second.pid != first.pid
    assert not psutil.pid_exists(first.pid)


def test_a_lone_run_shares_with_nobody(keeper: Keeper) -> None:
    """Catches two runs of no campaign that are taken for one campaign's."""
    first = keeper.child(lease(campaign=None), online=False)
    assert keeper.child(lease(campaign=None), online=False) is not first
