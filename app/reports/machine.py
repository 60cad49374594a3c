"""Which hardware a run was measured on, as a digest that equal machines share."""

import hashlib
import json

from app.domain.facts import EnvironmentFact


def hardware_digest(machine: EnvironmentFact) -> str:
    """SHA-256 over what is hardware: device, cores, threads and memory in GiB. Versions and clocks change on the same machine."""
    seen = [machine.device, machine.device_kind, machine.cores, machine.threads, round(machine.memory_bytes / 2**30)]
    return hashlib.sha256(json.dumps(seen, ensure_ascii=False).encode()).hexdigest()
