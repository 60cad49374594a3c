"""Keeps the measuring process of one target, so that the next job of the same campaign finds its weights loaded."""

import time
from collections.abc import Sequence
from pathlib import Path

from app.domain.lease import Lease
from app.domain.spec import ModelSource
from runners.child import Child


class Keeper:
    """At most one child. Runs that belong to no campaign get one of their own, in which nothing has run before."""

    def __init__(self, spool: Path) -> None:
        self._spool = spool
        self._child: Child | None = None
        self._target: tuple[int, tuple[str, ModelSource, bool]] | None = None

    def child(self, lease: Lease, *, online: bool, keys: Sequence[str] = ()) -> Child:
        """The child that holds this lease's target, else a new one, which sees the environment variables `keys`."""
        target = None if lease.campaign is None else (lease.campaign, lease.spec.target)
        if self._child is None or self._child.exit is not None or target is None or target != self._target:
            self.dismiss()
            self._child = Child(self._spool / f"child-{time.time_ns()}", online=online, keys=keys)
        self._target = target
        return self._child

    def dismiss(self, grace: float = 1.0) -> None:
        """Ends the child, if there is one: its weights may be in the way of others."""
        if self._child is not None:
            self._child.stop(grace)
        self._child = self._target = None
