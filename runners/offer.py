"""What this machine can do, as the service shall know it."""

import importlib.metadata
from pathlib import Path

from app.domain.catalogue import Offer
from app.domain.value import Value
from runners.environment import describe, measuring_cores, pick_device
from runners.models.allowlist import Allowlist
from runners.parts import offered
from runners.workloads import suite as suites


class Site(Value):
    """A runner's own settings that decide what it may offer; a file in its data folder."""

    roots: tuple[Path, ...] = ()
    hub: tuple[str, ...] = ()
    labels: dict[str, str] = {}

    def allowlist(self) -> Allowlist:
        return Allowlist.installed(self.roots, self.hub)


def offer(site_file: Path) -> Offer:
    site = Site.model_validate_json(site_file.read_text())
    device = pick_device()
    machine = describe(device, measuring_cores())
    return Offer(
        engines=("transformers",),
        models=site.allowlist().offers(),
        suites=tuple(suites.load(name).offered() for name in suites.available()),
        max_concurrency=1,
        device=machine.device,
        labels=site.labels,
        version=importlib.metadata.version("bezmen"),
        **offered(),
    )
