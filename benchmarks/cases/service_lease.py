"""How long a runner waits for the answer to its request for work while work waits for it."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.service import Service, serving
from benchmarks.timed import ROUNDS, now, over_rounds, quantile

WAITING, LEASES = 50, 20


def measure() -> Mapping[str, Estimate]:
    with serving() as service:
        for _ in range(WAITING):
            service.submit()
        _round(service)
        return {"lease_p50_seconds": over_rounds([quantile(_round(service), 50) for _ in range(ROUNDS)])}


def _round(service: Service) -> list[float]:
    """Seconds from a request to the lease that answers it. The run is cancelled, and another one waits in its place."""
    found = []
    for _ in range(LEASES):
        began = now()
        attempt = service.lease()
        found.append(now() - began)
        service.cancel(attempt.run)
        service.submit()
    return found


BENCHMARK = Benchmark("service_lease", {"lease_p50_seconds": Aim("≤", 0.05, "seconds")}, measure)
