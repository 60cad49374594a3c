"""Which queue a run waits in: one per set of things that a runner must have."""

import hashlib
import json

from app.domain.spec import RunSpec

LONGEST = 40
DIGEST = 20


def needs(spec: RunSpec) -> dict[str, str]:
    """What a runner must offer to measure this; equal needs share a queue. Parameters are not needs: they were checked at submission."""
    needed = {
        "engine": spec.engine,
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
    return needed | {f"label:{name}": value for name, value in spec.labels.items()}


def queue_of(spec: RunSpec) -> str:
    """The canonical key: readable labels as far as they fit, then a digest of everything needed.

    At most LONGEST bytes: the queue notifies on a channel of its own name behind 23 bytes, and Postgres takes 63.
    """
    labels = ",".join(f"{name}={value}" for name, value in sorted(spec.labels.items())) or "any"
    readable = labels.encode("ascii", "ignore").decode()[: LONGEST - DIGEST - 1]
    return f"{readable}#{hashlib.sha256(json.dumps(needs(spec), sort_keys=True).encode()).hexdigest()[:DIGEST]}"
