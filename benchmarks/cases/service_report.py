"""How long a report over 100 000 request rows takes, beside SQL that reduces the same rows."""

from collections.abc import Mapping

from app.domain.estimate import Estimate
from benchmarks.base import Aim, Benchmark
from benchmarks.service import Service, serving
from benchmarks.stored import bare, forget_report, measured
from benchmarks.timed import over_rounds, seconds

# Three arms, and two of them once more for losslessness: 100 000 requests.
PROMPTS, PASSES = 500, 66
# Short ones, on a machine that is never quite quiet.
ROUNDS = 24
AIMS = {"report_seconds": Aim("≤", 2, "seconds"), "report_per_sql": Aim("≤", 1.5)}


def measure() -> Mapping[str, Estimate]:
    with serving() as service:
        run = measured(service, prompts=PROMPTS, passes=PASSES)
        found = [(_report(service, run), seconds(lambda: bare(service))) for _ in range(ROUNDS)]
    return {"report_seconds": over_rounds([report for report, _ in found]), "report_per_sql": over_rounds([report / sql for report, sql in found])}


def _report(service: Service, run: int) -> float:
    forget_report(service, run)
    return seconds(lambda: service.client.get(f"/api/v1/runs/{run}/report").raise_for_status())


BENCHMARK = Benchmark("service_report", AIMS, measure)
