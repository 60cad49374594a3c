"""The facts of a run on a served engine as its tests walk them: each trial with the engine's counters and the requests that it asked itself."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.domain.counts import Counts
from app.domain.facts import FACT, AnyFact, RequestFact, TrialFact
from tests.end_to_end.conftest import Site


@dataclass(frozen=True)
class Counted:
    """A trial of one arm: what the engine's counters moved by, and the trial's own requests."""

    trial: TrialFact
    counts: Counts
    own: tuple[RequestFact, ...]

    def sum(self, name: str) -> int:
        """Over its own requests; one that does not tell adds nothing."""
        return sum(getattr(fact, name) or 0 for fact in self.own)


def facts(site: Site, run: int) -> list[AnyFact]:
    return [FACT.validate_json(line) for line in site.http.get(f"/api/v1/runs/{run}/facts").text.splitlines()]


def requests_of(found: Iterable[AnyFact]) -> list[RequestFact]:
    return [fact for fact in found if isinstance(fact, RequestFact)]


def counted(found: Iterable[AnyFact]) -> Iterator[Counted]:
    """Every trial of a run; each had counters, and answered nobody else."""
    found = list(found)
    trials, requests = [fact for fact in found if isinstance(fact, TrialFact)], requests_of(found)
    assert {trial.foreign for trial in trials} == {0}
    for trial in trials:
        assert trial.counted is not None
        own = tuple(fact for fact in requests if (fact.arm, fact.trial) == (trial.arm, trial.trial))
        yield Counted(trial, trial.counted.counts, own)


def require_same_answers(found: Iterable[AnyFact], prompts: int) -> None:
    """Every request delivered what the plain arm did for its prompt."""
    requests = requests_of(found)
    plain = {fact.prompt: fact.output_digest for fact in requests if fact.arm == "plain"}
    assert len(plain) == prompts
    assert all(fact.output_digest == plain[fact.prompt] for fact in requests)
