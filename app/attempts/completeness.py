"""What a run must have before it may be called a success; a report over less would look like a report."""

from dataclasses import dataclass

from app.domain.facts import PreflightFact
from app.domain.spec import RunSpec

Pass = tuple[str, str, int]
HALF = ("float16", "bfloat16")
ARMS = ("plain", "speculative")
SHOWN = 6


@dataclass(frozen=True)
class Seen:
    """What has come of one attempt; a pass is (purpose, arm, trial), once of its requests and once of its trial facts."""

    environment: bool
    preflight: PreflightFact | None
    warmup: bool
    requests: frozenset[Pass]
    trials: frozenset[Pass]


def lacking(seen: Seen, spec: RunSpec) -> list[str]:
    """What is not there, in words; empty when all is."""
    once = {"an environment fact": seen.environment, "a preflight fact": seen.preflight is not None, "a warmup fact": seen.warmup}
    found = [name for name, there in once.items() if not there]
    wanted = ["headline"]
    if seen.preflight is not None and seen.preflight.dtype in HALF and spec.sampling.temperature == 0:
        # A half-precision run shows whether its rule is lossless in a pass of its own, in float32.
        wanted.append("losslessness")
    arms = {(purpose, arm) for purpose, arm, _ in seen.requests}
    found += [f"{purpose} requests of the {arm} arm" for purpose in wanted for arm in ARMS if (purpose, arm) not in arms]
    untold = [f"the trial fact of {purpose} {arm} {trial}" for purpose, arm, trial in sorted(seen.requests - seen.trials)]
    return found + untold[:SHOWN] + ([f"{len(untold) - SHOWN} trial facts more"] if len(untold) > SHOWN else [])
