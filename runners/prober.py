"""The parent of a probe: hands it to a child, keeps its lease, and sends what was found."""

import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from app.domain.probe import ProbeEnd, ProbeLease
from runners.attempt import LeaseClock, crash_fact
from runners.child import Child
from runners.link import Cancelled, Link, Lost, Refused
from runners.probe_job import END, ProbeJob

log = logging.getLogger("bezmen.runner")
TICK_SECONDS = 0.25


class Prober:
    """One probe in a child of its own. `abandon` true gives it back at once."""

    def __init__(self, link: Link, lease: ProbeLease, job: ProbeJob, spool: Path, abandon: Callable[[], bool]) -> None:
        self.link, self.lease, self.job, self.abandon = link, lease, job, abandon
        self.folder = spool / f"probe-{lease.probe}-{time.time_ns()}"
        self.clock = LeaseClock(lease.lease_seconds, lease.beat_seconds, time.monotonic())

    def run(self, child: Child) -> None:
        """To its end; whoever calls stops the child."""
        self.folder.mkdir(parents=True, mode=0o700)
        try:
            self.job.write(self.folder)
            child.measure(self.folder)
            end = self._awaited(child)
            if end is not None:
                self._tell(end)
        except Cancelled:
            log.info("probe %s attempt %s was cancelled", self.lease.probe, self.lease.attempt)
        except (Lost, Refused) as error:
            log.warning("probe %s attempt %s is lost: %s", self.lease.probe, self.lease.attempt, error)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _awaited(self, child: Child) -> ProbeEnd | None:
        """How it ended; None when it was given back. Raises Lost."""
        while True:
            gone = child.exit is not None  # asked before the look, so that an end that was written in between is not missed
            if (self.folder / END).exists():
                return ProbeEnd.model_validate_json((self.folder / END).read_text())
            if gone:
                said = crash_fact(child.exit, child.last_words())
                return ProbeEnd(code=said.code, reason=said.reason, retry_makes_sense=said.retry_makes_sense)
            if self.abandon():
                self.link.release_probe(self.lease, "the runner is shutting down")
                return None
            self._beat()
            time.sleep(TICK_SECONDS)

    def _beat(self) -> None:
        now = time.monotonic()
        if self.clock.due(now):
            self.clock.tried(now)
            held = self.link.beat_probe(self.lease)
            if held is False:
                raise Lost("the service gave it to another attempt")
            if held:
                self.clock.renewed(now)
        if self.clock.expired(time.monotonic()):
            raise Lost("the lease could not be renewed in time")

    def _tell(self, end: ProbeEnd) -> None:
        try:
            self.link.finish_probe(self.lease, end, self._renew_or_give_up)
        except Refused as error:
            log.error("probe %s: the service refused its end: %s", self.lease.probe, error)
            refused = ProbeEnd(code="refused", reason=f"The service refused the result: {error}"[:2000])
            self.link.finish_probe(self.lease, refused, self._renew_or_give_up)
        log.info("probe %s attempt %s: %s %s", self.lease.probe, self.lease.attempt, end.code, end.reason)

    def _renew_or_give_up(self) -> bool:
        self._beat()
        return False
