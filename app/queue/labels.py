"""Which queue a run waits in: one per set of things that a runner must have."""

import hashlib
import json

from app.domain.probe import ProbeSpec
from app.domain.spec import Choice, RunSpec

LONGEST = 40
DIGEST = 20
GROUP = "campaign:"
PLAIN = Choice(name="none")


def needs(spec: RunSpec) -> dict[str, str]:
    """What a runner must offer to measure this; equal needs share a queue. Parameters are not needs: they were checked at submission."""
    needed = {
        "engine": spec.engine,
        "compile": str(spec.compile).lower(),
        "model": f"{spec.model.source}:{spec.model.title}:{spec.model.file or ''}",
        "dtype": spec.model.dtype,
        "drafter": spec.drafter.name,
        "controller": spec.controller.name,
        "verifier": spec.verifier.name,
        "suite": spec.suite.id,
        "profiles": ",".join(sorted(spec.suite.profiles or ())),
        "language": spec.language,
        "concurrency": str(spec.load.concurrency),
        "chat_template": spec.chat_template,
    }
    return needed | {f"label:{name}": value for name, value in spec.wanted_labels.items()}


def queue_of(spec: RunSpec, project: str) -> str:
    """The canonical key: readable labels as far as they fit, then a digest of everything needed and of the project.

    At most LONGEST bytes: the queue notifies on a channel of its own name behind 23 bytes, and Postgres takes 63.
    """
    labels = ",".join(f"{name}={value}" for name, value in sorted(spec.wanted_labels.items())) or "any"
    readable = labels.encode("ascii", "ignore").decode()[: LONGEST - DIGEST - 1]
    return f"{readable}#{_digest(needs(spec) | {'project': project})}"


def probe_queue(spec: ProbeSpec, project: str) -> str:
    """The queue of probes that need the same of a runner; no queue of runs has its name, in which a label would have a value."""
    needed = {"model": spec.model.model_dump(mode="json"), "suite": spec.suite, "languages": sorted(spec.languages), "project": project}
    return f"probe#{_digest(needed)}"


def bench_of(spec: RunSpec) -> str:
    """Runs with equal benches differ in drafter and controller alone, so that one plain arm serves them all."""
    return spec.model_copy(update={"drafter": PLAIN, "controller": PLAIN}).digest()


def group_queue(campaign: int, spec: RunSpec) -> str:
    """The queue of those runs of a campaign that share a bench."""
    return f"{GROUP}{campaign}#{_digest(bench_of(spec))}"


def campaign_of(queue: str) -> int | None:
    """The campaign whose runs wait in a queue; None for a queue of any runs."""
    return int(queue.removeprefix(GROUP).partition("#")[0]) if is_group(queue) else None


def is_group(queue: str) -> bool:
    """Whether the runs of a queue are measured side by side; a label of that name would have a value behind it."""
    return queue.startswith(GROUP)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:DIGEST]
