"""How many requests a second of a runner's facts are checked and stored."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.service import Service, batches, serving
from benchmarks.timed import ROUNDS, over_rounds, seconds
from tests import factories

PROMPTS, PASSES, ARMS = 250, 4, 2


def measure() -> Mapping[str, Estimate]:
    facts = factories.requests(prompts=PROMPTS, passes=PASSES)
    bodies = batches(facts)
    with serving() as service:
        rates = [len(facts) / _seconds(service, bodies) for _ in range(ROUNDS + 1)]
    # The first round finds a service that has just started.
    return {"ingest_requests_per_second": over_rounds(rates[1:])}


def _seconds(service: Service, bodies: list[dict[str, object]]) -> float:
    """Of the same facts for another run, batch by batch through the API."""
    service.submit()
    attempt = service.lease()
    taken = seconds(lambda: attempt.send(0, bodies))
    service.cancel(attempt.run)
    return taken


BENCHMARK = Benchmark("service_ingest", {"ingest_requests_per_second": Aim("≥", 2000, "requests_per_second")}, measure)
