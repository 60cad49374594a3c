"""How long a submission takes while 50 of them come in a second."""

import asyncio
from collections.abc import Mapping

import httpx

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.service import Service, serving
from benchmarks.timed import ROUNDS, now, over_rounds, quantile
from tests import factories

RATE, REQUESTS = 50, 200


def measure() -> Mapping[str, Estimate]:
    with serving() as service:
        asyncio.run(_round(service, REQUESTS // 4))
        return {"submit_p95_seconds": over_rounds([asyncio.run(_p95(service)) for _ in range(ROUNDS)])}


async def _p95(service: Service) -> float:
    return quantile(await _round(service, REQUESTS), 95)


async def _round(service: Service, requests: int) -> list[float]:
    """Seconds of each request from the moment at which it was to be sent, so that one that had to wait for others is not flattered."""
    async with httpx.AsyncClient(base_url=service.client.base_url, headers=service.client.headers, timeout=60) as client:
        began = now()

        async def submit(number: int) -> float:
            planned = began + number / RATE
            await asyncio.sleep(max(0.0, planned - now()))
            answer = await client.post("/api/v1/runs", json=factories.spec_body())
            answer.raise_for_status()
            return now() - planned

        return list(await asyncio.gather(*map(submit, range(requests))))


BENCHMARK = Benchmark("service_submit", {"submit_p95_seconds": Aim("≤", 0.05, "seconds")}, measure)
