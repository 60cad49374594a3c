"""How long pages take with 64 finished runs, once each has been looked at."""

from collections.abc import Mapping
from typing import Any

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.service import Service, batches, serving
from benchmarks.timed import ROUNDS, over_rounds, seconds
from tests import factories

LANGUAGES, RUNS, PROMPTS = ("ru", "en"), 64, 24
PAGES = {
    "runs": "/runs", "run": "/runs/1", "compare": "/compare?runs=1,2", "languages": "/languages", "landscape": "/landscape",
    "campaign": "/campaigns/1",
}  # fmt: skip
WARM, LOOKS = 2, 5


def measure() -> Mapping[str, Estimate]:
    with serving() as service:
        _measure_runs(service)
        for address in PAGES.values():
            for _ in range(WARM):
                _get(service, address)
        return {f"page_{name}_seconds": over_rounds([_looks(service, address) for _ in range(ROUNDS)]) for name, address in PAGES.items()}


def _measure_runs(service: Service) -> None:
    """Every run is seen to its report, so that nothing is left to be computed beside the pages."""
    bodies = {language: batches(factories.facts(language=language, prompts=PROMPTS)) for language in LANGUAGES}
    campaign = {"title": f"{RUNS} runs", "runs": [_spec(number) for number in range(RUNS)]}
    service.client.post("/api/v1/campaigns", json=campaign).raise_for_status()
    ended = 0
    while ended < RUNS:
        attempts = service.lease_all()
        for attempt in attempts:
            spec = service.client.get(f"/api/v1/runs/{attempt.run}").raise_for_status().json()["spec"]
            attempt.finish(attempt.send(0, bodies[spec["language"]]))
        ended += len(attempts)
    service.settle()


def _spec(number: int) -> dict[str, Any]:
    """Neighbours are the same in both languages; 8 lengths of n-grams and 4 of answers."""
    ngram = {"name": "ngram", "params": {"max_ngram": 1 + number // 2 % 8}}
    return factories.spec_body(
        language=LANGUAGES[number % 2], drafter=ngram, max_new_tokens=32 + number // 16, suite={"id": "everyday", "limit": PROMPTS}
    )


def _looks(service: Service, address: str) -> float:
    """The mean seconds of a few looks, one after the other: the answer's bytes, without what a browser does with them."""
    return sum(seconds(lambda: _get(service, address)) for _ in range(LOOKS)) / LOOKS


def _get(service: Service, address: str) -> None:
    service.client.get(address, headers={"Accept": "text/html"}).raise_for_status()


BENCHMARK = Benchmark("service_pages", {f"page_{name}_seconds": Aim("≤", 0.3, "seconds") for name in PAGES}, measure)
