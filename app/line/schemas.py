"""Who measures, who waits, and what stands between the two."""

from datetime import datetime
from typing import Literal

from app.domain.catalogue import Offer
from app.domain.estimate import Estimate
from app.domain.facts import ProgressFact
from app.domain.probe import ProbeSpec
from app.domain.sentence import Sentence
from app.domain.spec import RunSpec
from app.domain.value import Value
from app.runners_registry.schemas import RunnerOut

Standing = Literal["offline", "does not offer", "labels", "busy", "free"]


class Floors(Value):
    """The noise floors of the last `runs` of a runner that have one with an interval: they lie from `least` to `most`, no interval goes below `low`
    or above `high`, and `uneven` of these exclude 1."""

    runs: int
    least: float
    most: float
    low: float
    high: float
    uneven: int


class Quiet(Value):
    """How quiet a machine was of late: `disturbed` of its last `trials`, the noise floor of its newest run (`run`) that has one, and how far it has
    moved from run to run (`floors`, None where no floor has an interval)."""

    trials: int
    disturbed: int
    noise_floor: Estimate | None
    run: int | None
    floors: Floors | None = None


class RunnerView(RunnerOut):
    """A runner with its newest offer and how quiet it was; `progress` is that of the run it is at."""

    offer: Offer
    quiet: Quiet
    progress: ProgressFact | None = None


class Reason(Value):
    """Why one runner has not taken a run yet."""

    runner: str
    standing: Standing
    sentence: Sentence


class Waiting(Value):
    """A queued run in its place of the line. `startable` is false where no live runner could take it even if it were free."""

    run: int
    position: int | None
    since: datetime
    spec: RunSpec
    why: str | None
    startable: bool
    reasons: tuple[Reason, ...]


class WaitingProbe(Value):
    """A queued probe. Runs come first: a runner takes one when no run waits that it can measure. `startable` as of a run."""

    probe: int
    since: datetime
    spec: ProbeSpec
    startable: bool
    reasons: tuple[Reason, ...]
