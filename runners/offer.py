"""What this machine can do, as the service shall know it."""

import importlib.metadata
from pathlib import Path

from app.domain.catalogue import Offer
from app.domain.protocol import PROTOCOL
from app.domain.spec import OWN_ENGINE
from runners.cores import measuring_cores
from runners.engine.compiler import missing
from runners.environment import auto_dtype, describe, identity, pick_device
from runners.machine import Machine
from runners.models.allowlist import Allowlist
from runners.parts import offered
from runners.served.offer import served
from runners.site import Site
from runners.workloads import suite as suites

# Slots of one static cache; pre-flight refuses what memory does not hold.
MAX_CONCURRENCY = 32


def machine(site_file: Path) -> Machine:
    site = Site.model_validate_json(site_file.read_text())
    device = pick_device()
    models = Allowlist.installed(site.readable, site.hub).offers()
    found = Offer(
        engines=(OWN_ENGINE, *(engine.name for engine in served(site.engines, models))),
        models=models,
        served=served(site.engines, models),
        suites=tuple(suites.load(name).offered() for name in suites.available()),
        auto_dtype=auto_dtype(device),
        compiles=missing(device) is None,
        max_concurrency=MAX_CONCURRENCY,
        device=describe(device, measuring_cores()).device,
        labels=site.labels,
        version=importlib.metadata.version("bezmen"),
        protocol=PROTOCOL,
        **offered(),
    )
    return Machine(offer=found, identity=identity(device))
