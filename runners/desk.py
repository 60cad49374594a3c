"""Where the child puts what it found: a spool for each run of its job, until that run ends or is no longer wanted."""

from collections.abc import Callable
from pathlib import Path

from app.domain.facts import AnyFact, FinishFact
from app.domain.withheld import withhold
from runners.job import folder_of
from runners.protocol.spool import Spool

WITHDRAWN = "withdrawn"


class Desk:
    """`stopped` ends all runs; a file named `withdrawn` in a run's own folder ends that one. Of a `private` suite no answer and
    no words of an error are written down."""

    def __init__(self, folder: Path, runs: int, stopped: Callable[[], bool], *, private: bool = False) -> None:
        self._stopped, self._private = stopped, private
        self._folders = {run: folder_of(folder, run) for run in range(runs)}
        for own in self._folders.values():
            own.mkdir(exist_ok=True)
        self._spools = {run: Spool(own) for run, own in self._folders.items()}

    @property
    def open(self) -> list[int]:
        """Runs that have not been told how they ended."""
        return list(self._spools)

    def wanted(self, run: int) -> bool:
        return run in self._spools and not self._stopped() and not (self._folders[run] / WITHDRAWN).exists()

    def tell(self, run: int, fact: AnyFact) -> None:
        """Says nothing of a run that has ended."""
        if run in self._spools:
            self._spools[run].write(withhold(fact) if self._private else fact)

    def tell_all(self, fact: AnyFact) -> None:
        for run in self.open:
            self.tell(run, fact)

    def end(self, run: int, fact: FinishFact) -> None:
        """The last word on a run; a withdrawn one was cancelled, whatever else is said."""
        if run in self._spools:
            spool = self._spools.pop(run)
            withdrawn = (self._folders[run] / WITHDRAWN).exists()
            last = FinishFact(outcome="cancelled", code="cancelled", reason="The run was cancelled.") if withdrawn else fact
            spool.write(withhold(last) if self._private else last)
            spool.close()

    def end_all(self, fact: FinishFact) -> None:
        for run in self.open:
            self.end(run, fact)
