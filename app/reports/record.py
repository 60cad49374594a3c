"""Everything that was asked and seen of one run: the only input of a report."""

from collections.abc import Sequence

from pydantic import SkipValidation

from app.domain.estimate import Estimate
from app.domain.facts import EnvironmentFact, FinishFact, PreflightFact, RequestFact, TrialFact, WarmupFact
from app.domain.observations import CostFact, DivergenceFact, LearnedFact
from app.domain.spec import RunSpec
from app.domain.status import RunState
from app.domain.value import Value
from app.metrics.columns import Requests
from app.metrics.frame import Frames, from_facts


class Kin(Value):
    """Another run of the same campaign, with its speed-up as far as it is known: the campaign is the family in which every one of it is weighed."""

    run: int
    speedup: Estimate | None
    margin: float


class RunRecord(Value):
    """Facts of the finishing attempt only (of the latest attempt while none has finished)."""

    run: int
    state: RunState
    spec: RunSpec
    preflight: PreflightFact | None = None
    environment: EnvironmentFact | None = None
    warmup: WarmupFact | None = None
    requests: SkipValidation[Sequence[RequestFact]] = ()
    trials: tuple[TrialFact, ...] = ()
    costs: tuple[CostFact, ...] = ()
    divergences: tuple[DivergenceFact, ...] = ()
    learned: LearnedFact | None = None
    finish: FinishFact | None = None
    kin: tuple[Kin, ...] = ()


def in_columns(record: RunRecord) -> RunRecord:
    """The same record; its requests are put into columns once for all that look at them."""
    return record.model_copy(update={"requests": Requests.of(record.requests)})


def frames_of(record: RunRecord) -> Frames:
    """What every figure of a run is computed from."""
    spec = record.spec
    timed = record.preflight is not None and record.preflight.timed_controller
    sampled = spec.sampling.temperature > 0
    return from_facts(record.requests, record.trials, sampled=sampled, load=spec.load, timed_controller=timed, costs=record.costs)
