"""One attempt: the parent beats and uploads while the child measures."""

import logging
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

from app.domain.facts import FACT, FinishFact
from runners.child import Child
from runners.job import Job
from runners.link import Lease, Link, Lost, Refused
from runners.protocol.spool import SpoolReader

log = logging.getLogger("bezmen.runner")
BATCH = 64
TICK_SECONDS = 0.25


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
    """Runs one lease to its end. `draining` true does not stop it; `abandon` true gives the run back at once."""

    def __init__(self, link: Link, lease: Lease, job: Job, folder: Path, abandon: Callable[[], bool]) -> None:
        self.link, self.lease, self.job, self.folder, self.abandon = link, lease, job, folder, abandon
        self.clock = LeaseClock(lease.lease_seconds, lease.beat_seconds, time.monotonic())
        self.batches = 0
        self.finish: FinishFact | None = None
        self.cancelling = False
        self._waiting: list[str] = []

    def run(self) -> str:
        """One word for the log: finished, lost, released or expired."""
        self.folder.mkdir(parents=True, mode=0o700)
        self.job.write(self.folder)
        child = Child(self.folder, online=bool(self.job.hub))
        try:
            return self._watch(child)
        except Lost as error:
            log.warning("run %s attempt %s is lost: %s", self.lease.run, self.lease.attempt, error)
            return "lost"
        finally:
            child.stop(grace=1.0)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _watch(self, child: Child) -> str:
        reader = SpoolReader(self.folder)
        while True:
            ended = child.exit is not None  # asked before the last read, so that nothing written in between is missed
            self._take(reader)
            self._upload(final=ended)
            if ended:
                return self._conclude(child)
            if self._beat(child) == "lost":
                return "lost"
            if self.clock.expired(time.monotonic()):
                log.warning("run %s: the lease could not be renewed in time", self.lease.run)
                return "expired"
            if self.abandon():
                self.link.release(self.lease, "the runner is shutting down")
                return "released"
            time.sleep(TICK_SECONDS)

    def _beat(self, child: Child) -> str | None:
        now = time.monotonic()
        if not self.clock.due(now):
            return None
        self.clock.tried(now)
        action = self.link.beat(self.lease)
        if action in ("continue", "cancel"):
            self.clock.renewed(now)
        if action == "cancel" and not self.cancelling:
            self.cancelling = True
            child.ask_to_stop()
        return action

    def _take(self, reader: SpoolReader) -> None:
        for line in reader.new_lines():
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
        now = time.monotonic()
        if self.clock.due(now):
            self.clock.tried(now)
            action = self.link.beat(self.lease)
            if action == "lost":
                raise Lost("the service says so")
            if action is not None:
                self.clock.renewed(now)
        if self.clock.expired(time.monotonic()):
            raise Lost("the lease ran out while the service could not be reached")
        return False

    def _conclude(self, child: Child) -> str:
        fact = self.finish or crash_fact(child.exit, child.last_words())
        try:
            self.link.finish(self.lease, self.batches, fact, self._renew_or_give_up)
        except (Lost, Refused) as error:
            # A success that the service finds incomplete is a failure with its reason; an attempt that is really lost is refused once more.
            log.error("run %s: the service refused its end: %s", self.lease.run, error)
            failed = FinishFact(outcome="failed", code="incomplete", reason=f"The service refused the result: {error}"[:2000])
            self.link.finish(self.lease, self.batches, failed, self._renew_or_give_up)
        log.info("run %s attempt %s: %s %s", self.lease.run, self.lease.attempt, fact.outcome, fact.reason)
        return "finished"


def crash_fact(status: int | None, words: str) -> FinishFact:
    """How a child ended that did not say so itself."""
    if status is not None and status < 0:
        name = signal.Signals(-status).name
        killed = " The system may have run out of memory." if -status == signal.SIGKILL else ""
        reason = f"The measuring process was ended by {name}.{killed}\n{words}".strip()
        return FinishFact(outcome="failed", code="killed", reason=reason[:2000], retry_makes_sense=True)
    reason = f"The measuring process ended with status {status}. Its last words:\n{words}".strip()
    return FinishFact(outcome="failed", code="crashed", reason=reason[:2000])
