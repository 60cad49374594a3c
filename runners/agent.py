"""The parent process of a runner: leases runs, starts a child for each, beats, uploads, drains.

It never imports torch; the child holds no credential.
"""

import argparse
import ctypes
import logging
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from app.domain.catalogue import Offer
from app.domain.lease import Lease
from runners.child import Child
from runners.cores import measuring_cores
from runners.device_lock import DeviceBusy, claim, hold, lock_folder
from runners.engine.external.aliases import BadEngines, Engines, read_engines, with_programs
from runners.group import Group
from runners.job import Job
from runners.keeper import Keeper
from runners.link import Link, Lost, Refused, read_token
from runners.machine import Machine
from runners.probe_job import ProbeJob
from runners.prober import Prober
from runners.program import environment
from runners.site import Site

log = logging.getLogger("bezmen.runner")
WAIT_SECONDS = 10.0
PUBLISH_SECONDS = 300.0


class Agent:
    """One SIGTERM or SIGINT drains: the run in hand is finished, no other is taken. A second one gives the run back and ends."""

    def __init__(self, link: Link, site: Site, data: Path, spool: Path, warmup_seconds: float) -> None:
        self.link, self.site, self.data, self.warmup_seconds = link, site, data, warmup_seconds
        self.spool, self.keeper = spool, Keeper(spool)
        self.signals = 0

    def on_signal(self, *_: object) -> None:
        self.signals += 1
        log.info("draining" if self.signals == 1 else "giving the run back")

    @property
    def draining(self) -> bool:
        return self.signals > 0

    def serve(self, offer: Offer) -> None:
        published = -PUBLISH_SECONDS
        while not self.draining:
            if time.monotonic() - published > PUBLISH_SECONDS:
                self.link.publish(offer, lambda: self.draining)
                published = time.monotonic()
            try:
                lease = self.link.lease(WAIT_SECONDS, lambda: self.draining)
            except Lost:
                continue
            if lease is not None:
                self._measure([lease, *lease.siblings])
            else:
                self.keeper.dismiss()
                self._probe()

    def _measure(self, leases: list[Lease]) -> None:
        for lease in leases:
            log.info("run %s attempt %s: %s in %s", lease.run, lease.attempt, lease.spec.drafter.name, lease.spec.language)
        job = Job(
            specs=tuple(lease.spec for lease in leases),
            suite=leases[0].suite,
            cache=self.data / "models",
            roots=self.site.readable,
            hub=self.site.hub,
            cores=tuple(measuring_cores()),
            engines=self.site.engines,
            warmup_seconds=self.warmup_seconds,
        )
        folder = self.spool / f"{leases[0].run}-{leases[0].attempt}-{time.time_ns()}"
        free = False
        try:
            child = self.keeper.child(leases[0], online=bool(job.hub), keys=self.site.keys if job.served else ())
            free = Group(self.link, leases, job, folder, lambda: self.signals > 1).run(child)
        finally:
            if not free:
                self.keeper.dismiss()

    def _probe(self) -> None:
        """The next probe, if one waits: runs come first."""
        lease = None if self.draining else self.link.lease_probe()
        if lease is None:
            return
        log.info("probe %s attempt %s: %s of %s", lease.probe, lease.attempt, lease.spec.ablation.kind, lease.spec.model.title)
        cores = tuple(measuring_cores())
        job = ProbeJob(spec=lease.spec, cache=self.data / "models", roots=self.site.readable, hub=self.site.hub, cores=cores)
        child = Child(self.spool / f"child-{time.time_ns()}", online=bool(job.hub))
        try:
            Prober(self.link, lease, job, self.spool, lambda: self.signals > 1).run(child)
        finally:
            child.stop(1.0)


def read_machine(site: Site) -> Machine:
    """Asks a child what this machine can do, so that the parent stays free of torch."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(site.model_dump_json())
        file.flush()
        found = subprocess.run(
            [sys.executable, "-m", "runners.measure", "--offer", file.name],
            env=environment(online=False),
            capture_output=True,
            text=True,
            check=False,
        )
    if found.returncode:
        raise SystemExit(f"this machine's offer could not be made:\n{found.stderr[-2000:]}")
    return Machine.model_validate_json(found.stdout.splitlines()[-1])


def engines_of(file: Path | None) -> Engines:
    try:
        return Engines() if file is None else with_programs(read_engines(file))
    except BadEngines as error:
        raise SystemExit(str(error)) from error


def hide_memory() -> None:
    """Keeps other processes of the same user from reading the token out of this one (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


def main() -> None:
    parser = argparse.ArgumentParser(prog="bezmen runner", description="Measures what the service queues.")
    parser.add_argument("--url", required=True)
    parser.add_argument("--token-file", required=True, type=Path)
    parser.add_argument("--data", required=True, type=Path, help="spool and converted models")
    parser.add_argument("--model-root", action="append", default=[], type=Path, help="folder under which models may be loaded by path")
    parser.add_argument("--hub", action="append", default=[], help="REPOSITORY@REVISION that may be downloaded (40-hex revision)")
    parser.add_argument("--label", action="append", default=[], help="NAME=VALUE that runs may ask for")
    parser.add_argument("--engines", type=Path, default=None, help="TOML file that names engines to be measured beside our own loop")
    parser.add_argument("--warmup-seconds", type=float, default=60.0)
    parser.add_argument("--lock-folder", type=Path, default=None)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    hide_memory()
    labels = dict(label.split("=", 1) for label in args.label)
    site = Site(roots=tuple(args.model_root), hub=tuple(args.hub), labels=labels, engines=engines_of(args.engines))
    machine = read_machine(site)
    try:
        lock = hold(machine.identity, args.lock_folder or lock_folder(), machine.offer.device)
        spool, held = claim(machine.identity, args.data / "spool")
    except DeviceBusy as error:
        raise SystemExit(str(error)) from error
    agent = Agent(Link(args.url, read_token(args.token_file)), site, args.data, spool, args.warmup_seconds)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, agent.on_signal)
    try:
        agent.serve(machine.offer)
    except (Refused, httpx.HTTPError) as error:
        raise SystemExit(f"the service at {args.url} refuses this runner: {error}") from error
    finally:
        agent.keeper.dismiss()
        agent.link.close()
        held.close()
        lock.close()


if __name__ == "__main__":
    main()
