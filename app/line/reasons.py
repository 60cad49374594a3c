"""Why a run or a probe waits, runner by runner."""

from app.domain.probe import ProbeSpec
from app.domain.sentence import plain
from app.domain.spec import RunSpec
from app.line.schemas import Reason
from app.runners_registry.fitting import labelled, probes, problems, serves
from app.runners_registry.schemas import KnownRunner


def reason(spec: RunSpec, runner: KnownRunner) -> Reason:
    """What must change first: an offer before labels, labels before life, and only then patience."""
    if not serves(spec, runner.offer):
        return Reason(
            runner=runner.name,
            standing="does not offer",
            sentence=plain("It does not offer what the run asks for: %(field)s.", field=_field(spec, runner)),
        )
    if not labelled(spec, runner.offer):
        lacking = sorted(f"{name}={value}" for name, value in spec.wanted_labels.items() if runner.offer.labels.get(name) != value)
        return Reason(runner=runner.name, standing="labels", sentence=plain("It lacks the labels %(labels)s.", labels=", ".join(lacking)))
    if not runner.live:
        return Reason(runner=runner.name, standing="offline", sentence=plain("It is offline."))
    if runner.busy:
        return _busy(runner)
    return Reason(runner=runner.name, standing="free", sentence=plain("It is free and takes the first run in the line that it can measure."))


def reason_of_probe(spec: ProbeSpec, runner: KnownRunner) -> Reason:
    """The same of a probe, which asks for no labels, and for which runs come first."""
    if not probes(spec, runner.offer):
        said = plain("It does not offer the model and the suite of the probe.")
        return Reason(runner=runner.name, standing="does not offer", sentence=said)
    if not runner.live:
        return Reason(runner=runner.name, standing="offline", sentence=plain("It is offline."))
    if runner.busy:
        return _busy(runner)
    return Reason(runner=runner.name, standing="free", sentence=plain("It is free and takes a probe when no run waits that it can measure."))


def _busy(runner: KnownRunner) -> Reason:
    if runner.run is not None:
        said = plain("It is busy with run %(run)s.", run=str(runner.run))
    elif runner.probe is not None:
        said = plain("It is busy with probe %(probe)s.", probe=str(runner.probe))
    else:
        said = plain("It is busy with another run.")
    return Reason(runner=runner.name, standing="busy", sentence=said)


def _field(spec: RunSpec, runner: KnownRunner) -> str:
    """The first field without an answer; a runner that lacks none of them lacks the load."""
    found = problems(spec, [runner.offer])
    pointers = [one["pointer"].lstrip("/").partition("/")[0] for one in found if one["pointer"]]
    return pointers[0] if pointers else "load"
