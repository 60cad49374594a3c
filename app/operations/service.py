"""The state of the service in numbers, for whoever watches over it."""

from collections.abc import Mapping

from fastapi import Request
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from app.access.seen import Seen, Who, narrowed
from app.operations import store
from app.queue.labels import GROUP, is_group
from app.runners_registry.service import Registry
from app.storage.database import Database


class Gauges(Seen):
    def __init__(self, database: Database, registry: Registry) -> None:
        self._database = database
        self._registry = registry

    async def rendered(self) -> bytes:
        """What the database knows now, in Prometheus's text format; of the runs of the view alone."""
        view, found = self.view, CollectorRegistry()
        known = await self._registry.known()
        async with self._database.transaction() as connection:
            line = await store.line(connection, view)
            _gauge(found, "bezmen_runs", "Runs by state.", ("state",), await store.runs_by_state(connection, view))
            _gauge(found, "bezmen_attempts", "Attempts by how they ended; of silent ones the runner was lost.", ("end",),
                   await store.attempts_by_end(connection, view))  # fmt: skip
            _gauge(found, "bezmen_figures_refused", "Figures that are refused, by the field or gate that refused them.", ("reason",),
                   await store.refusals(connection, view))  # fmt: skip
            _gauge(found, "bezmen_probes", "Probes by state.", ("state",), await store.probes_by_state(connection, view))
            _gauge(found, "bezmen_probes_oldest_seconds", "How long the oldest probe that waits has waited; runs come before it.", (),
                   {(): await store.oldest_probe(connection, view)})  # fmt: skip
            _gauge(found, "bezmen_leases", "Attempts that are being measured.", (), {(): await store.leases_alive(connection, view)})
        depth: store.Labelled = {}
        age: store.Labelled = {}
        for queue, count, seconds in line:
            key = (labels_of(queue),)
            depth[key], age[key] = depth.get(key, 0) + count, max(age.get(key, 0), seconds)
        _gauge(found, "bezmen_queue_depth", "Runs that wait, by the labels that they ask for.", ("labels",), depth)
        _gauge(found, "bezmen_queue_oldest_seconds", "How long the oldest of them has waited.", ("labels",), age)
        states: store.Labelled = {("live",): sum(runner.live for runner in known), ("offline",): sum(not runner.live for runner in known)}
        _gauge(found, "bezmen_runners", "Runners by whether they were heard of in the last minute.", ("state",), states)
        return bytes(generate_latest(found))


def labels_of(queue: str) -> str:
    """The readable part of a queue's name: what it asks for, or that it is some campaign's; the rest would have no bound."""
    return GROUP.rstrip(":") if is_group(queue) else queue.rpartition("#")[0]


def _gauge(registry: CollectorRegistry, name: str, said: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], float]) -> None:
    gauge = Gauge(name, said, labels, registry=registry)
    for key, value in values.items():
        (gauge.labels(*key) if labels else gauge).set(value)


def gauges_service(request: Request, who: Who) -> Gauges:
    return narrowed(request, Gauges, who)
