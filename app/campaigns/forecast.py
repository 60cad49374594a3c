"""How far a campaign is, and how long it will take: runs that share a bench are measured together, and benches one after the other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.campaigns.schemas import Progress
from app.domain.spec import PASSES, RunSpec
from app.domain.status import FINAL, RunState
from app.queue.labels import bench_of
from app.reports.words import mark
from app.runs.relatives import Took
from app.runs.schemas import RunSummary

WORKING = frozenset({RunState.LEASED, RunState.RUNNING})
NO_RUN = mark("no run of this campaign has been measured to its end yet")
NO_WORD = mark("the run in hand has not said yet how long its trials take")
NOBODY = mark("runs wait and nobody measures any of them")
NO_RUNNER = mark("no runner that is alive can measure all of this")
NO_PROMPTS = mark("the suite does not say how many prompts these profiles hold")
NEVER = mark("no run of this model on %(runner)s yet")
OTHER_LOAD = mark("no run of this model under this load on %(runner)s yet")
NO_DRAFTER = mark("no run of %(drafter)s with this model under this load on %(runner)s yet")


def progress_of(runs: Sequence[RunSummary]) -> Progress:
    """What is left is reckoned as one runner does it: runs that share a plain arm are measured together, and take as long as those before did."""
    ended = sum(run.state in FINAL for run in runs)
    counts = {state.value: n for state in RunState if (n := sum(run.state == state for run in runs))}
    if ended == len(runs):
        return Progress(ended=ended, total=len(runs), counts=counts)
    at_work = [run for run in runs if run.state in WORKING]
    told = [run.progress.remaining for run in at_work if run.progress and run.progress.remaining is not None]
    benches = {bench_of(run.spec) for run in runs if run.state == RunState.QUEUED} - {bench_of(run.spec) for run in at_work}
    if at_work and not told:
        return Progress(ended=ended, total=len(runs), counts=counts, unknown=NO_WORD)
    each = _mean(_seconds(runs))
    if benches and each is None:
        return Progress(ended=ended, total=len(runs), counts=counts, unknown=NO_RUN if at_work else NOBODY)
    return Progress(ended=ended, total=len(runs), counts=counts, remaining=max(told, default=0.0) + len(benches) * (each or 0.0))


def _seconds(runs: Iterable[RunSummary]) -> list[float]:
    """What each bench that was measured took, once."""
    found: dict[str, float] = {}
    for run in runs:
        if run.state == RunState.SUCCEEDED and run.started_at and run.finished_at:
            found[bench_of(run.spec)] = max(found.get(bench_of(run.spec), 0.0), _between(run.started_at, run.finished_at))
    return list(found.values())


def _between(start: datetime, end: datetime) -> float:
    return (end - start).total_seconds()


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


@dataclass(frozen=True)
class Expected:
    """`seconds` of runs that nobody has begun, from `runs` that `runner` has measured, or why that is `unknown`, which may be for a `drafter`."""

    runner: str = ""
    seconds: float | None = None
    runs: int = 0
    unknown: str | None = None
    drafter: str = ""


def expected(specs: Sequence[RunSpec], prompts: Sequence[int | None], runners: Sequence[str], past: Sequence[Took]) -> Expected:
    """What these specs, each over as many of `prompts`, will take on the first of `runners` that has measured their model and drafters under their
    loads: passes in proportion to prompts and tokens, and beside them what does not grow."""
    if not runners:
        return Expected(unknown=NO_RUNNER)
    if any(n is None for n in prompts):
        return Expected(runner=runners[0], unknown=NO_PROMPTS)
    benches: dict[str, list[tuple[RunSpec, int]]] = {}
    for spec, n in zip(specs, prompts, strict=True):
        benches.setdefault(bench_of(spec), []).append((spec, n or 0))
    found = [_on(runner, list(benches.values()), [took for took in past if took.runner == runner]) for runner in runners]
    return next((one for one in found if one.seconds is not None), found[0])


def _on(runner: str, benches: Sequence[Sequence[tuple[RunSpec, int]]], past: Sequence[Took]) -> Expected:
    seconds, used = 0.0, set[int]()
    for bench in benches:
        spec, prompts = bench[0]
        alike = [took for took in past if _pace_of(took.spec) == _pace_of(spec)]
        if not alike:
            known = any(took.spec.model == spec.model for took in past)
            return Expected(runner=runner, unknown=OTHER_LOAD if known else NEVER)
        arms: list[tuple[str, Sequence[Took]]] = [("plain", alike), ("control", alike)]
        for one, _ in bench:
            if not (own := _of_drafter(one, alike)):
                return Expected(runner=runner, unknown=NO_DRAFTER, drafter=one.drafter.name)
            arms.append(("speculative", own))
        size = _size(spec, prompts)
        seconds += size * sum(spec.trials * PASSES * _pace("headline", *arm) + _pace("losslessness", *arm) for arm in arms) + _rest(alike)
        used |= {took.run for _, measured in arms for took in measured}
    return Expected(runner=runner, seconds=seconds, runs=len(used))


def _pace_of(spec: RunSpec) -> tuple[object, ...]:
    """Where this differs, a token takes another time, or other passes are made."""
    return (spec.model, spec.engine, spec.compile, spec.load, spec.sampling.temperature > 0)


def _of_drafter(spec: RunSpec, alike: Sequence[Took]) -> list[Took]:
    """Runs of this very drafter and controller, else of one of its name."""
    named = [took for took in alike if took.spec.drafter.name == spec.drafter.name]
    return [took for took in named if (took.spec.drafter, took.spec.controller) == (spec.drafter, spec.controller)] or named


def _size(spec: RunSpec, prompts: int) -> int:
    """What a pass grows with: tokens that are asked for; where requests arrive by themselves their number."""
    return prompts if spec.load.rate is not None else prompts * spec.max_new_tokens


def _pace(purpose: str, arm: str, measured: Sequence[Took]) -> float:
    """Seconds of a pass by its size; 0 where no run made one, as of a control arm under load."""
    found = [took.passes[purpose, arm] for took in measured if (purpose, arm) in took.passes]
    sizes = [_size(took.spec, took.prompts) for took in measured if (purpose, arm) in took.passes]
    return _mean([total / number / size for (total, number), size in zip(found, sizes, strict=True)]) or 0.0


def _rest(alike: Sequence[Took]) -> float:
    """Loading, warm-up and profile: the time of a bench beside its passes. Runs of one campaign and bench took that time together."""
    benches: dict[tuple[int, str], list[Took]] = {}
    for took in alike:
        benches.setdefault((took.campaign or -took.run, bench_of(took.spec)), []).append(took)
    return _mean([max(0.0, max(took.seconds for took in group) - _in_passes(group)) for group in benches.values()]) or 0.0


def _in_passes(group: Sequence[Took]) -> float:
    shared = sum(total for (purpose, arm), (total, _) in group[0].passes.items() if arm != "speculative" and purpose != "profile")
    return shared + sum(
        total for took in group for (purpose, arm), (total, _) in took.passes.items() if arm == "speculative" and purpose != "profile"
    )
