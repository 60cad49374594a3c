"""What this process counts of its own work, in a registry of its own: a process may hold several applications."""

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Meters:
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        names = ("route", "method", "status")
        self._answers = Histogram("bezmen_http_seconds", "Time to answer, by template of the route.", names, registry=self._registry, buckets=SECONDS)
        self._batches = Counter("bezmen_facts_batches", "Batches of facts that were counted.", registry=self._registry)
        self._rows = Counter("bezmen_facts_request_rows", "Request rows that were stored.", registry=self._registry)

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        self._answers.labels(route, method if method in METHODS else "other", str(status)).observe(seconds)

    def ingested(self, rows: int) -> None:
        """One batch, with so many request rows, that has been committed."""
        self._batches.inc()
        self._rows.inc(rows)

    def rendered(self) -> bytes:
        """In Prometheus's text format."""
        return bytes(generate_latest(self._registry))
