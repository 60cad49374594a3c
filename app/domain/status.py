"""States of a run and the only transitions between them."""

from enum import StrEnum


class RunState(StrEnum):
    QUEUED = "queued"
    LEASED = "leased"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class AttemptState(StrEnum):
    LEASED = "leased"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"


FINAL = frozenset({RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED})


def cut(state: RunState) -> bool:
    """Whether a run ended before it was done: failed, or cancelled."""
    return state in FINAL and state != RunState.SUCCEEDED


# A lost attempt sends the run back to `queued`; only the attempt is ever `lost`.
NEXT: dict[RunState, frozenset[RunState]] = {
    RunState.QUEUED: frozenset({RunState.LEASED, RunState.CANCELLED, RunState.FAILED}),
    RunState.LEASED: frozenset({RunState.RUNNING, RunState.QUEUED, *FINAL}),
    RunState.RUNNING: frozenset({RunState.QUEUED, *FINAL}),
    RunState.SUCCEEDED: frozenset(),
    RunState.FAILED: frozenset(),
    RunState.CANCELLED: frozenset(),
}

MAX_ATTEMPTS = 3
LEASE_SECONDS = 90.0
BEAT_SECONDS = 15.0
# How long a run that is measured alone may take.
RUN_SECONDS = 86_400.0


def may_become(current: RunState, after: RunState) -> bool:
    return after in NEXT[current]
