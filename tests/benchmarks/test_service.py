"""What the benchmarks of the service send and how they reduce it; nothing here is timed."""

import hashlib
import math

import pytest

from app.attempts.service import parse
from benchmarks.service import batches, serving
from benchmarks.stored import bare, measured
from benchmarks.timed import over_rounds, quantile
from tests import factories


def test_batches_hold_every_fact_once_and_in_order() -> None:
    """Catches a lost last batch, after which rates would count facts that nobody sent."""
    facts = factories.requests(prompts=4, passes=2)
    bodies = batches(facts, 5)
    assert [hashlib.sha256(body["facts"].encode()).hexdigest() for body in bodies] == [body["digest"] for body in bodies]
    assert [fact for body in bodies for fact in parse(body["facts"].encode())] == facts


def test_rounds_are_reduced_on_the_log() -> None:
    """Catches an interval from fewer rounds than give one, and a mean that one slow round carries."""
    found = over_rounds([1.0, 2.0, 4.0, 1.0, 2.0, 4.0])
    half = 2.5706 * math.log(2) * math.sqrt(4 / 5 / 6)
    assert (found.point, found.low, found.high) == pytest.approx((2.0, 2 * math.exp(-half), 2 * math.exp(half)), rel=1e-4)
    assert over_rounds([1.0, 2.0]).low is None


def test_a_quantile_of_a_round() -> None:
    assert quantile(list(range(101)), 95) == pytest.approx(95)
    assert quantile([3.0, 1.0, 2.0], 50) == 2.0


def test_runs_are_stored_as_a_runner_would_have_sent_them() -> None:
    """Catches facts that the service no longer takes, and copies that are not later passes of the same prompts: a report would be over fewer rows."""
    with serving() as service:
        run = measured(service, prompts=8, passes=6)
        counted = "SELECT purpose, count(*), count(DISTINCT trial), count(DISTINCT prompt) FROM requests GROUP BY purpose ORDER BY purpose"
        assert service.database.execute(counted).fetchall() == [("headline", 8 * 6 * 3, 6, 8), ("losslessness", 8 * 2, 1, 8)]
        report = service.client.get(f"/api/v1/runs/{run}/report").raise_for_status().json()
        assert (report["state"], len(report["prompts"])) == ("succeeded", 8)
        bare(service)
