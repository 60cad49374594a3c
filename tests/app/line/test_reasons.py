"""Why a run waits, runner by runner."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.line.reasons import reason
from app.runners_registry.schemas import KnownRunner
from tests import factories


def runner(**over: Any) -> KnownRunner:
    values: dict[str, Any] = {"id": 1, "name": "gpu-1", "last_seen": datetime(2026, 11, 1, tzinfo=UTC), "live": True, "busy": False, "run": None}
    offer = factories.offer(**over.pop("offer", {}))
    return KnownRunner(**values | {"offer": offer} | over)


@pytest.mark.parametrize(
    ("asked", "known", "standing", "value"),
    [
        ({}, {}, "free", None),
        ({}, {"busy": True, "run": 44}, "busy", "44"),
        ({}, {"busy": True}, "busy", None),
        ({}, {"live": False, "busy": True}, "offline", None),
        ({"labels": {"gpu": "h200"}}, {"live": False}, "labels", "gpu=h200"),
        ({"labels": {"gpu": "h200", "os": "linux"}}, {"offer": {"labels": {"os": "linux"}}}, "labels", "gpu=h200"),
        ({"labels": {"lossy": "yes"}}, {}, "free", None),
        ({"drafter": {"name": "eagle"}, "labels": {"gpu": "h200"}}, {}, "does not offer", "drafter"),
        ({"load": {"concurrency": 4}, "suite": {"id": "everyday", "limit": 24}}, {}, "does not offer", "load"),
        ({"language": "de"}, {}, "does not offer", "language"),
        ({"model": {"source": "hub", "repository": "org/other", "revision": "main"}}, {}, "does not offer", "model"),
    ],
)
def test_what_must_change_first(asked: dict[str, Any], known: dict[str, Any], standing: str, value: str | None) -> None:
    """Catches a runner called busy that could never measure the run, and a label that it has named as lacking."""
    found = reason(factories.run_spec(**asked), runner(**known))
    assert (found.runner, found.standing) == ("gpu-1", standing)
    assert list(found.sentence.values.values()) == ([value] if value else [])
