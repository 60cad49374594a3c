"""One attempt: beats for it and uploads what the child writes into its spool."""

import logging
import signal
import time
from pathlib import Path

from app.domain.facts import FACT, FinishFact
from app.domain.lease import Lease
from runners.desk import WITHDRAWN
from runners.link import Cancelled, Link, Lost, Refused
from runners.protocol.spool import SpoolReader

log = logging.getLogger("bezmen.runner")
BATCH = 64


class LeaseClock:
    """When to beat and when the lease can no longer be relied on; pure, the time is handed in.

    The child is stopped a margin before the lease ends, so that two runners never measure one run at once.
    """

    def __init__(self, lease_seconds: float, beat_seconds: float, now: float) -> None:
        self.lease_seconds, self.beat_seconds = lease_seconds, beat_seconds
        self._renewed = self._tried = now

    def due(self, now: float) -> bool:
        return now - self._tried >= self.beat_seconds

    def tried(self, now: float) -> None:
        self._tried = now

    def renewed(self, sent: float) -> None:
        """The service answered a beat that was sent at `sent`: the lease counts from then, not from the answer."""
        self._renewed = sent

    def expired(self, now: float) -> bool:
        return now - self._renewed >= self.lease_seconds * 0.9


class Attempt:
    """Brings one lease to its end. `folder` is the run's own spool; whoever calls decides when."""

    def __init__(self, link: Link, lease: Lease, folder: Path) -> None:
        self.link, self.lease, self.folder = link, lease, folder
        self.clock = LeaseClock(lease.lease_seconds, lease.beat_seconds, time.monotonic())
        self.batches = 0
        self.finish: FinishFact | None = None
        self._reader = SpoolReader(folder)
        self._waiting: list[str] = []

    def pump(self, *, ended: bool) -> None:
        """Sends what the child has written. `ended` says that it will write no more. Raises Lost."""
        self._take()
        self._upload(final=ended or self.finish is not None)

    def beat(self) -> None:
        """Keeps the lease, and withdraws the run from the child when the service says that it was cancelled. Raises Lost."""
        now = time.monotonic()
        if self.clock.due(now):
            self.clock.tried(now)
            action = self.link.beat(self.lease)
            if action == "lost":
                raise Lost("the service says so")
            if action is not None:
                self.clock.renewed(now)
            if action == "cancel":
                self.withdraw()
        if self.clock.expired(time.monotonic()):
            raise Lost("the lease could not be renewed in time")

    def withdraw(self) -> None:
        """Tells the child that nobody wants this run any more."""
        if self.folder.exists():
            (self.folder / WITHDRAWN).touch()

    def conclude(self, exit: int | None, words: str) -> None:
        """The last word, the child's own or, where it went without one, how it ended. Raises Lost."""
        fact = self.finish or crash_fact(exit, words)
        try:
            self.link.finish(self.lease, self.batches, fact, self._renew_or_give_up)
        except Cancelled:
            raise
        except (Lost, Refused) as error:
            # A success that the service finds incomplete is a failure with its reason; an attempt that is really lost is refused once more.
            log.error("run %s: the service refused its end: %s", self.lease.run, error)
            failed = FinishFact(outcome="failed", code="incomplete", reason=f"The service refused the result: {error}"[:2000])
            self.link.finish(self.lease, self.batches, failed, self._renew_or_give_up)
        log.info("run %s attempt %s: %s %s", self.lease.run, self.lease.attempt, fact.outcome, fact.reason)

    def _take(self) -> None:
        for line in self._reader.new_lines():
            fact = FACT.validate_json(line)
            if isinstance(fact, FinishFact):
                self.finish = fact
            else:
                self._waiting.append(line)

    def _upload(self, *, final: bool) -> None:
        """Sends what waits. A service that cannot be reached does not stop the measurement: facts wait in the spool while the lease lasts."""
        while self._waiting and not self.clock.expired(time.monotonic()):
            batch = self._waiting[:BATCH]
            self.link.send_facts(self.lease, self.batches, batch, self._renew_or_give_up)
            self.batches += 1
            del self._waiting[: len(batch)]
            if not final and len(batch) < BATCH:
                return

    def _renew_or_give_up(self) -> bool:
        """Between retries: keeps the lease alive where the service answers again, gives up when it has run out."""
        self.beat()
        return False


def crash_fact(status: int | None, words: str) -> FinishFact:
    """How a child ended that did not say so itself."""
    if status is not None and status < 0:
        name = signal.Signals(-status).name
        killed = " The system may have run out of memory." if -status == signal.SIGKILL else ""
        reason = f"The measuring process was ended by {name}.{killed}\n{words}".strip()
        return FinishFact(outcome="failed", code="killed", reason=reason[:2000], retry_makes_sense=True)
    reason = f"The measuring process ended with status {status}. Its last words:\n{words}".strip()
    return FinishFact(outcome="failed", code="crashed", reason=reason[:2000])
