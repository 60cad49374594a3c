"""The attempts that one child measures side by side, each with a lease of its own: the parent tends them until all have ended."""

import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from app.domain.lease import Lease
from runners.attempt import Attempt
from runners.child import Child
from runners.job import Job, folder_of
from runners.link import Cancelled, Link, Lost

log = logging.getLogger("bezmen.runner")
TICK_SECONDS = 0.25
# A trace may quote what was being read.
WITHHELD = "(withheld: the suite is private)"


class Group:
    """`abandon` true gives all runs back at once. A run that is lost or cancelled is withdrawn from the child, which goes on with the others."""

    def __init__(self, link: Link, leases: list[Lease], job: Job, folder: Path, abandon: Callable[[], bool]) -> None:
        self.link, self.job, self.folder, self.abandon = link, job, folder, abandon
        self.open = [Attempt(link, lease, folder_of(folder, run)) for run, lease in enumerate(leases)]
        self._finished = True

    def run(self, child: Child) -> bool:
        """Whether the child has said of every run how it ended, and so is free for another job; a child that has not must be stopped."""
        self.folder.mkdir(parents=True, mode=0o700)
        try:
            for attempt in self.open:
                attempt.folder.mkdir()
            self.job.write(self.folder)
            child.measure(self.folder)
            while self.open:
                self._tend(child)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return self._finished and child.exit is None

    def _tend(self, child: Child) -> None:
        ended = child.exit is not None  # asked before the last read, so that nothing written in between is missed
        self.open = [attempt for attempt in self.open if not self._over(attempt, child, ended)]
        if self.open and self.abandon():
            for attempt in self.open:
                self.link.release(attempt.lease, "the runner is shutting down")
                log.info("run %s: released", attempt.lease.run)
            self.open, self._finished = [], False
        if self.open:
            time.sleep(TICK_SECONDS)

    def _over(self, attempt: Attempt, child: Child, ended: bool) -> bool:
        """Whether an attempt has come to its end, one way or another."""
        try:
            attempt.pump(ended=ended)
            if ended or attempt.finish is not None:
                attempt.conclude(child.exit, WITHHELD if self.job.private else child.last_words())
                return True
            attempt.beat()
        except Lost as error:
            if isinstance(error, Cancelled):
                log.info("run %s attempt %s was cancelled", attempt.lease.run, attempt.lease.attempt)
            else:
                log.warning("run %s attempt %s is lost: %s", attempt.lease.run, attempt.lease.attempt, error)
            attempt.withdraw()
            self._finished = False
            return True
        return False
