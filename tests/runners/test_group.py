"""What the parent says of an attempt, of a run or a probe, that the service has ended, to a real server."""

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runners.group import Group
from runners.link import Link
from runners.prober import Prober
from tests.runners.engine.external import servers


@pytest.mark.parametrize(
    ("action", "said"), [("cancel", "run 3 attempt 1 was cancelled"), ("lost", "run 3 attempt 1 is lost: 409 Over: Attempt 1 of run 3 is over.")]
)
def test_a_cancelled_run_is_not_called_lost(tmp_path: Path, caplog: pytest.LogCaptureFixture, action: str, said: str) -> None:
    """Catches an operator who looks for the runner that took a run which somebody has cancelled."""
    stale = {"title": "Over", "detail": "Attempt 1 of run 3 is over.", "action": action}
    lease: Any = SimpleNamespace(run=3, attempt=1, attempt_id=7, token="t", lease_seconds=60.0, beat_seconds=30.0)
    with servers.served({"/api/v1/attempts/7/facts": lambda handler: handler.reply(stale, 409)}) as url:
        group = Group(Link(url, "t"), [lease], Any, tmp_path, lambda: False)  # type: ignore[arg-type]
        (attempt,) = group.open
        attempt.folder.mkdir(parents=True)
        attempt._waiting.append("{}")
        with caplog.at_level(logging.INFO, "bezmen.runner"):
            assert group._over(attempt, SimpleNamespace(exit=None), ended=False)  # type: ignore[arg-type]
        group.link.close()
    assert [record.getMessage() for record in caplog.records] == [said]
    assert (attempt.folder / "withdrawn").exists()


@pytest.mark.parametrize(
    ("action", "said"), [("cancel", "probe 5 attempt 1 was cancelled"), ("lost", "probe 5 attempt 1 is lost: the service gave it to another attempt")]
)
def test_a_cancelled_probe_is_not_called_lost(tmp_path: Path, caplog: pytest.LogCaptureFixture, action: str, said: str) -> None:
    """Catches the same of a probe, whose runner was told that either might be so."""
    stale = {"title": "Over", "detail": "Probe 5 is over.", "action": action}
    lease: Any = SimpleNamespace(probe=5, attempt=1, token="t", lease_seconds=60.0, beat_seconds=0.0)
    job: Any = SimpleNamespace(write=lambda _: None)
    child: Any = SimpleNamespace(exit=None, measure=lambda _: None)
    with servers.served({"/api/v1/probes/5/attempts/1/heartbeat": lambda handler: handler.reply(stale, 409)}) as url:
        link = Link(url, "t")
        with caplog.at_level(logging.INFO, "bezmen.runner"):
            Prober(link, lease, job, tmp_path, lambda: False).run(child)
        link.close()
    assert [record.getMessage() for record in caplog.records] == [said]
